"""Make Python modules from the JSON schema of the Debug Adapter Protocol.

`schema` reads and checks the schema into the values of `model`; `topics` says
which module each definition goes to, and `descriptions` what its docstrings say;
`structs` and `tables` turn the model into source text; `modules` puts the text
together, formatted. Further emitters take the same `Protocol` value.
"""
