#!/bin/sh
# Slurm prolog: keeps a job off a node whose data paths certainly cannot carry it.
#
# Slurm drains the node for any code but 0, so only a critical finding of a gate ends with one (docs/FINDINGS.md says
# which rules are gates). Warnings, what is not known, a daemon that does not answer and a railwatch that is not
# installed or breaks end with 0 and are logged. It takes 3 s at most.
command -v railwatch >/dev/null 2>&1 || exit 0
said=$(timeout 3 railwatch check --for slurm --timeout 2s 2>&1)
code=$?
[ -z "$said" ] || logger -t railwatch-prolog -- "$said" 2>/dev/null || :
if [ "$code" -eq 1 ]; then
    # Slurm shows this line as the reason of the drain.
    printf 'print railwatch: %s\n' "$(printf '%s\n' "$said" | head -n 1)"
    exit 1
fi
exit 0
