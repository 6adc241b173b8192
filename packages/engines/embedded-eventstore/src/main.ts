import { logVerbosity, setLogVerbosity } from '@grpc/grpc-js';
import { type EventStoreOptions, startEventStore } from './server.ts';
import { UnsupportedSchemaVersion } from './storage/schema.ts';
import { parseFaults, withFaults } from './testing/append-faults.ts';

const { EVENTSTORE_DATABASE_URL, EVENTSTORE_HOST = '127.0.0.1', EVENTSTORE_TEST_FAULTS = '' } = process.env;
// An empty value counts as absent: 0 would be any free port.
const EVENTSTORE_PORT = process.env.EVENTSTORE_PORT || '2113';
const EVENTSTORE_ADVERTISED_PORT = process.env.EVENTSTORE_ADVERTISED_PORT || EVENTSTORE_PORT;
const STOP_TIMEOUT_MS = 9_000;

setLogVerbosity(logVerbosity.NONE); // this file prints its own messages

const log = (line: string): void =>
  console.log(
    line
      .split('\n')
      .map((part) => part.trim())
      .join(' '),
  );

const fail = (message: string): never => {
  console.error(message);
  process.exit(1);
};

const messageFor = (error: unknown): string => {
  if (error instanceof UnsupportedSchemaVersion) return error.message;
  if ((error as NodeJS.ErrnoException).code === 'EADDRINUSE') {
    return `port ${EVENTSTORE_PORT} for the event store is taken: set EVENTSTORE_PORT (or PORT_OFFSET) to a free one`;
  }
  return `the event store could not start: ${(error as Error).message}`;
};

let stopping = false;
let stop = (): Promise<void> => Promise.resolve();
const shutDown = async (signal: string): Promise<void> => {
  if (stopping) return;
  stopping = true;
  log(`${signal}: stopping`);
  setTimeout(() => fail('the event store did not stop within 9 s'), STOP_TIMEOUT_MS).unref();
  await stop();
  process.exit(0);
};
process.on('SIGTERM', (signal) => void shutDown(signal));
process.on('SIGINT', (signal) => void shutDown(signal));

if (!EVENTSTORE_DATABASE_URL)
  fail('EVENTSTORE_DATABASE_URL is missing: set it to a PostgreSQL database for the event store');
const portIn = (variable: string, text: string): number => {
  const port = Number(text);
  if (!Number.isInteger(port) || port < 0 || port > 65_535) fail(`${variable} must be a port, not "${text}"`);
  return port;
};
const port = portIn('EVENTSTORE_PORT', EVENTSTORE_PORT);
const advertisedPort = portIn('EVENTSTORE_ADVERTISED_PORT', EVENTSTORE_ADVERTISED_PORT);

const faultsOf = (text: string): Pick<EventStoreOptions, 'wrapWriter'> => {
  try {
    return text === '' ? {} : { wrapWriter: withFaults(parseFaults(text)) };
  } catch (error) {
    return fail(`EVENTSTORE_TEST_FAULTS ${(error as Error).message}`);
  }
};

try {
  const server = await startEventStore({
    databaseUrl: EVENTSTORE_DATABASE_URL!,
    port,
    advertisedPort,
    host: EVENTSTORE_HOST,
    log,
    ...faultsOf(EVENTSTORE_TEST_FAULTS),
  });
  if (EVENTSTORE_TEST_FAULTS) log(`appends fail on purpose: ${EVENTSTORE_TEST_FAULTS}`);
  stop = server.stop;
  log(`event store listening on ${server.url}`);
} catch (error) {
  fail(messageFor(error));
}
