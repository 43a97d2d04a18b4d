/** A debug adapter for text files: a line is a step, and running it prints it. */

import { readFileSync } from "node:fs";
import { basename } from "node:path";
import { setTimeout } from "node:timers/promises";
import {
  Breakpoint, DebugSession, ExitedEvent, Handles, InitializedEvent, OutputEvent, Scope, Source, StackFrame,
  StoppedEvent, TerminatedEvent, Thread, Variable,
} from "@vscode/debugadapter";
import { DebugProtocol } from "@vscode/debugprotocol";

const MAIN = 1; // the one thread

interface LineLaunch extends DebugProtocol.LaunchRequestArguments {
  /** Path of the text file. */
  program: string;
  /** Stop before the first line. */
  stopOnEntry?: boolean;
}

class LineAdapter extends DebugSession {
  private path = "";
  private lines: string[] = [];
  private line = 1; // the next one to run
  private breakpoints = new Set<number>();
  private stopOnEntry = false;
  private pausing = false;
  private frames = new Handles<number>();

  constructor() {
    super();
    this.setDebuggerLinesStartAt1(true);
    this.setDebuggerColumnsStartAt1(true);
  }

  protected initializeRequest(response: DebugProtocol.InitializeResponse): void {
    response.body = { supportsConfigurationDoneRequest: true };
    this.sendResponse(response);
  }

  protected launchRequest(response: DebugProtocol.LaunchResponse, args: LineLaunch): void {
    if (typeof args.program !== "string") {
      this.sendErrorResponse(response, 1, "program is missing, or not a string");
      return;
    }
    this.path = args.program;
    this.stopOnEntry = args.stopOnEntry ?? false;
    try {
      this.lines = readFileSync(this.path, "utf8").trimEnd().split("\n");
    } catch (error) {
      this.sendErrorResponse(response, 2, `cannot read ${this.path}: ${(error as Error).message}`);
      return;
    }
    this.sendResponse(response);
    this.sendEvent(new InitializedEvent());
  }

  protected setBreakPointsRequest(
    response: DebugProtocol.SetBreakpointsResponse, args: DebugProtocol.SetBreakpointsArguments,
  ): void {
    const lines = (args.breakpoints ?? []).map((wanted) => this.convertClientLineToDebugger(wanted.line));
    const inProgram = this.convertClientPathToDebugger(args.source.path ?? "") === this.path;
    if (inProgram) {
      this.breakpoints = new Set(lines);
    }
    const breakpoints = lines.map(
      (line) => new Breakpoint(inProgram && line <= this.lines.length, this.convertDebuggerLineToClient(line)),
    );
    response.body = { breakpoints };
    this.sendResponse(response);
  }

  protected configurationDoneRequest(response: DebugProtocol.ConfigurationDoneResponse): void {
    this.sendResponse(response);
    if (this.stopOnEntry) {
      this.sendEvent(new StoppedEvent("entry", MAIN));
    } else {
      void this.runLines();
    }
  }

  /** Run lines up to the last one, or to a breakpoint that is not on the first one. */
  private async runLines(first = 0, last = Infinity): Promise<void> {
    this.frames.reset();
    this.pausing = false;
    let reason: string | undefined;
    while (reason === undefined && this.line <= this.lines.length) {
      if (this.breakpoints.has(this.line) && this.line !== first) {
        reason = "breakpoint";
      } else if (this.pausing) {
        reason = "pause";
      } else if (this.line > last) {
        reason = "step";
      } else {
        this.sendEvent(new OutputEvent(`${this.lines[this.line - 1]}\n`, "stdout"));
        this.line += 1;
        await setTimeout(1);
      }
    }
    if (reason !== undefined) {
      this.sendEvent(new StoppedEvent(reason, MAIN));
      return;
    }
    this.sendEvent(new ExitedEvent(0));
    this.sendEvent(new TerminatedEvent());
  }

  protected continueRequest(response: DebugProtocol.ContinueResponse): void {
    this.sendResponse(response);
    void this.runLines(this.line);
  }

  protected nextRequest(response: DebugProtocol.NextResponse): void {
    this.sendResponse(response);
    void this.runLines(this.line, this.line);
  }

  protected stepInRequest(response: DebugProtocol.StepInResponse): void {
    this.sendResponse(response);
    void this.runLines(this.line, this.line);
  }

  protected stepOutRequest(response: DebugProtocol.StepOutResponse): void {
    this.sendResponse(response);
    void this.runLines(this.line);
  }

  protected pauseRequest(response: DebugProtocol.PauseResponse): void {
    this.pausing = true;
    this.sendResponse(response);
  }

  protected threadsRequest(response: DebugProtocol.ThreadsResponse): void {
    response.body = { threads: [new Thread(MAIN, "main")] };
    this.sendResponse(response);
  }

  protected stackTraceRequest(response: DebugProtocol.StackTraceResponse): void {
    const source = new Source(basename(this.path), this.convertDebuggerPathToClient(this.path));
    const id = this.frames.create(this.line);
    const frame = new StackFrame(id, "text", source, this.convertDebuggerLineToClient(this.line), 1);
    response.body = { stackFrames: [frame], totalFrames: 1 };
    this.sendResponse(response);
  }

  protected scopesRequest(response: DebugProtocol.ScopesResponse, args: DebugProtocol.ScopesArguments): void {
    if (this.valuesOf(args.frameId) === undefined) {
      this.sendErrorResponse(response, 3, `there is no frame ${args.frameId}`);
      return;
    }
    response.body = { scopes: [new Scope("Locals", args.frameId, false)] };
    this.sendResponse(response);
  }

  protected variablesRequest(response: DebugProtocol.VariablesResponse, args: DebugProtocol.VariablesArguments): void {
    const values = this.valuesOf(args.variablesReference);
    if (values === undefined) {
      this.sendErrorResponse(response, 3, `there is no frame ${args.variablesReference}`);
      return;
    }
    response.body = { variables: Object.entries(values).map(([name, value]) => new Variable(name, value)) };
    this.sendResponse(response);
  }

  protected evaluateRequest(response: DebugProtocol.EvaluateResponse, args: DebugProtocol.EvaluateArguments): void {
    const value = this.valuesOf(args.frameId ?? 0)?.[args.expression];
    if (value === undefined) {
      this.sendErrorResponse(response, 4, `only line and text can be evaluated in a frame, not ${args.expression}`);
      return;
    }
    response.body = { result: value, variablesReference: 0 };
    this.sendResponse(response);
  }

  private valuesOf(frame: number): Record<string, string> | undefined {
    const line = this.frames.get(frame, 0);
    return line === 0 ? undefined : { line: String(line), text: `'${this.lines[line - 1]}'` };
  }
}

LineAdapter.run(LineAdapter);
