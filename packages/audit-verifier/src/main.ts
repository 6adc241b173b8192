#!/usr/bin/env node
import { createReadStream, readFileSync } from 'node:fs';
import { createInterface } from 'node:readline';
import { parseArgs } from 'node:util';
import { CheckpointError, openCheckpoint } from './checkpoint.ts';
import { verifyExport } from './verify-export.ts';

const USAGE = `Usage: audit-verifier <export> --checkpoint <file> --key <public key>

Verifies an export of "admin audit export" offline, against a checkpoint of the transparency log
that was kept elsewhere. Prints what is missing, changed or out of order.

  <export>      a file with one event per line, or - for the standard input
  --checkpoint  a file with the answer of /audit/checkpoint
  --key         the public key of the log, <name>+<key hash>+<key>

Exit code: 0 if nothing was found, 1 if something was, 64 for a mistake in the call.
`;

const MISTAKE = 64;
const MOST_SHOWN = 50;

/** Ends with a message and the exit code of a mistake. */
const refuse = (message: string): never => {
  process.stderr.write(`${message}\n\n${USAGE}`);
  process.exit(MISTAKE);
};

const readArguments = () => {
  const options = { checkpoint: { type: 'string' }, key: { type: 'string' }, help: { type: 'boolean' } } as const;
  try {
    const { values, positionals } = parseArgs({ options, allowPositionals: true });
    const [file] = positionals;
    const { help, checkpoint, key } = values;
    if (help) return { help: true } as const;
    if (positionals.length !== 1 || file === undefined) return refuse('name one export');
    if (checkpoint === undefined || key === undefined) return refuse('--checkpoint and --key are missing');
    const input = file === '-' ? process.stdin : createReadStream(file);
    return { help: false, input, checkpoint: openCheckpoint(readFileSync(checkpoint, 'utf8'), key) } as const;
  } catch (error) {
    if (error instanceof CheckpointError) return refuse(error.message);
    if ((error as NodeJS.ErrnoException).code === undefined) throw error;
    return refuse((error as Error).message);
  }
};

const run = async (): Promise<number> => {
  const call = readArguments();
  if (call.help) {
    process.stdout.write(USAGE);
    return 0;
  }
  const { input, checkpoint } = call;
  const { findings, events, entries, deleted, notLogged } = await verifyExport(
    createInterface({ input, crlfDelay: Infinity }),
    checkpoint,
  );
  const lines = [
    ...findings.slice(0, MOST_SHOWN),
    ...(findings.length > MOST_SHOWN ? [`and ${findings.length - MOST_SHOWN} more`] : []),
    `checkpoint of ${checkpoint.origin}: ${checkpoint.size} events; the log of the export: ${entries}`,
    `export: ${events} events; ${deleted} more were deleted with their orders; ${notLogged} are newer than its log`,
    findings.length === 0
      ? `the export is complete up to event ${checkpoint.size} of the log, and nothing in it was changed`
      : `${findings.length} findings: keep a copy of the event store before anything else`,
  ];
  process.stdout.write(`${lines.join('\n')}\n`);
  return findings.length === 0 ? 0 : 1;
};

try {
  process.exitCode = await run();
} catch (error) {
  refuse((error as Error).message);
}
