#!/usr/bin/env node
import { createReadStream, readFileSync } from 'node:fs';
import { createInterface } from 'node:readline';
import { parseArgs } from 'node:util';
import { CheckpointError, openCheckpoint } from './checkpoint.ts';
import { verifyExport } from './verify-export.ts';

const USAGE = `Usage: audit-verifier <export> --checkpoint <file> --key <public key> [--earlier <file>]

Verifies an export of "admin audit export" offline, against a checkpoint of the transparency log
that was kept elsewhere. Prints what is missing, changed or out of order.

  <export>      a file with one event per line, or - for the standard input
  --checkpoint  a file with the answer of /audit/checkpoint
  --key         the public key of the log, <name>+<key hash>+<key>
  --earlier     an export that was kept elsewhere. With it, a change of recorded_at and the removal of
                checkpoints after yours are found too.

Exit code: 0 if nothing was found, 1 if something was, 64 for a mistake in the call.
`;

const MISTAKE = 64;
const MOST_SHOWN = 50;

/** Ends with a message and the exit code of a mistake. */
const refuse = (message: string): never => {
  process.stderr.write(`${message}\n\n${USAGE}`);
  process.exit(MISTAKE);
};

/** The lines of a file, which is opened when the first one is read: readline drops lines until somebody reads. */
const linesOf = async function* (file: string): AsyncIterable<string> {
  const input = file === '-' ? process.stdin : createReadStream(file);
  yield* createInterface({ input, crlfDelay: Infinity });
};

const readArguments = () => {
  const options = {
    checkpoint: { type: 'string' },
    key: { type: 'string' },
    earlier: { type: 'string' },
    help: { type: 'boolean' },
  } as const;
  try {
    const { values, positionals } = parseArgs({ options, allowPositionals: true });
    const [file] = positionals;
    const { help, checkpoint, key, earlier } = values;
    if (help) return { help: true } as const;
    if (positionals.length !== 1 || file === undefined) return refuse('name one export');
    if (checkpoint === undefined || key === undefined) return refuse('--checkpoint and --key are missing');
    const kept = earlier === undefined ? undefined : linesOf(earlier);
    const opened = openCheckpoint(readFileSync(checkpoint, 'utf8'), key);
    return { help: false, input: linesOf(file), checkpoint: opened, key, earlier: kept } as const;
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
  const { input, checkpoint, key, earlier } = call;
  const verification = await verifyExport(input, checkpoint, { key, earlier });
  const { findings, events, entries, deleted, notLogged, deletedSince } = verification;
  const lines = [
    ...findings.slice(0, MOST_SHOWN),
    ...(findings.length > MOST_SHOWN ? [`and ${findings.length - MOST_SHOWN} more`] : []),
    `checkpoint of ${checkpoint.origin}: ${checkpoint.size} events; the log of the export: ${entries}`,
    `export: ${events} events; ${deleted} more were deleted with their orders; ${notLogged} are newer than its log`,
    ...(deletedSince.length > 0
      ? [`deleted since the checkpoint, by their records; ask their merchants: ${deletedSince.join(', ')}`]
      : []),
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
