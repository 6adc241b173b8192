import { logVerbosity, setLogVerbosity } from '@grpc/grpc-js';
import { startEventStore } from './server.ts';
import { UnusableDatabaseError } from './storage/schema.ts';

const { EVENTSTORE_DATABASE_URL, EVENTSTORE_PORT = '2113', EVENTSTORE_HOST = '127.0.0.1' } = process.env;
const STOP_WITHIN_MS = 9_000;

setLogVerbosity(logVerbosity.NONE); // what it has to say is said below, in sentences

const log = (line: string): void => console.log(line.replaceAll(/\s*\n\s*/g, ' '));

const fail = (sentence: string): never => {
  console.error(sentence);
  process.exit(1);
};

const sentenceFor = (error: unknown): string => {
  if (error instanceof UnusableDatabaseError) return error.message;
  if ((error as NodeJS.ErrnoException).code === 'EADDRINUSE') {
    return `port ${EVENTSTORE_PORT} for the event store is taken: set EVENTSTORE_PORT (or PORT_OFFSET) to a free one`;
  }
  return `the event store could not start: ${(error as Error).message}`;
};

let stopping = false;
let stop = (): Promise<void> => Promise.resolve();
const end = async (signal: string): Promise<void> => {
  if (stopping) return;
  stopping = true;
  log(`${signal}: stopping`);
  setTimeout(() => fail('the event store did not stop in time'), STOP_WITHIN_MS).unref();
  await stop();
  process.exit(0);
};
process.on('SIGTERM', end);
process.on('SIGINT', end);

if (!EVENTSTORE_DATABASE_URL) fail('EVENTSTORE_DATABASE_URL is missing: the PostgreSQL database of the event store');
const port = Number(EVENTSTORE_PORT);
if (!Number.isInteger(port) || port < 0 || port > 65_535) fail(`EVENTSTORE_PORT is not a port: ${EVENTSTORE_PORT}`);

try {
  const server = await startEventStore({ databaseUrl: EVENTSTORE_DATABASE_URL!, port, host: EVENTSTORE_HOST, log });
  stop = server.stop;
  log(`event store listening on ${server.url}`);
} catch (error) {
  fail(sentenceFor(error));
}
