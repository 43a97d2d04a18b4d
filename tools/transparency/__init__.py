"""Does a debugger change what programs do? Their own tests are asked, with and without it.

`subjects` says whose tests these are, `plain` and `debugged` how they are run, `modes` what the
client does meanwhile, `outcomes` what is compared, `trial` in which order, and `page` how it is shown. What stands in
`programs` runs inside the programs that are debugged.
"""
