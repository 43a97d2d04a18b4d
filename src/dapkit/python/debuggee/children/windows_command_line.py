"""The command line of a program on Windows, which is one text: split as programs in C split it."""


def split(text: str) -> list[str]:
    """Return the words of a command line, by the rules of Microsoft's C library."""
    words: list[str] = []
    word, has_word, quoted, backslashes = "", False, False, 0
    for character in text:
        if character == "\\":
            backslashes += 1
            has_word = True
            continue
        if character == '"':
            word += "\\" * (backslashes // 2)
            if backslashes % 2:
                word += '"'
            else:
                quoted = not quoted
            backslashes, has_word = 0, True
            continue
        word += "\\" * backslashes
        backslashes = 0
        if character in " \t" and not quoted:
            if has_word:
                words.append(word)
            word, has_word = "", False
        else:
            word += character
            has_word = True
    if has_word:
        words.append(word + "\\" * backslashes)
    return words
