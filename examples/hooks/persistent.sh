#!/bin/bash
# A persistent hook in bash: the id is the first number of the line, the rest is looked at as text.
while IFS= read -r line; do
  case $line in
    '{"protocol"'*) echo '{"protocol":1}' ;;
    *)
      id=${line#'{"id":'}
      id=${id%%,*}
      case $line in
        *'git push'*) echo "{\"id\":$id,\"block\":\"pushing is for people; ask one\"}" ;;
        *) echo "{\"id\":$id,\"verdict\":null}" ;;
      esac
      ;;
  esac
done
