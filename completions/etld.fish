# fish completion for etld(8).
complete --command etld --no-files
complete --command etld --long-option config --require-parameter --force-files --description 'The settings file'
complete --command etld --long-option store --exclusive --arguments '(__fish_complete_directories)' \
    --description 'The folder of the store'
complete --command etld --long-option check --description 'Check the settings and whether the daemon could start'
complete --command etld --long-option help --short-option h --description 'Show the options'
complete --command etld --long-option version --description 'Show the version'
