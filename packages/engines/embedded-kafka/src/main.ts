import { startKafka } from './index.ts';

const STOP_TIMEOUT_MS = 8_000;

const log = (line: string) => void process.stdout.write(`kafka: ${line}\n`);
const exitWithError = (line: string): never => {
  process.stderr.write(`kafka: ${line}\n`);
  process.exit(1);
};

const { KAFKA_DATABASE_URL: databaseUrl, KAFKA_PORT, KAFKA_HOST = '127.0.0.1' } = process.env;
if (!databaseUrl) exitWithError('set KAFKA_DATABASE_URL to the PostgreSQL database for the broker');
const parsePort = (name: string, value: string): number => {
  const port = Number(value);
  return Number.isInteger(port) && port >= 0 && port <= 65_535
    ? port
    : exitWithError(`${name} must be a port from 0 to 65535, not "${value}"`);
};
// An empty value counts as absent: 0 would be any free port.
const port = parsePort('KAFKA_PORT', KAFKA_PORT || '9092');
const { KAFKA_ADVERTISED_HOST, KAFKA_ADVERTISED_PORT } = process.env;
const advertisedPort = KAFKA_ADVERTISED_PORT && parsePort('KAFKA_ADVERTISED_PORT', KAFKA_ADVERTISED_PORT);

let stop = async () => {}; // replaced once the broker runs
for (const signal of ['SIGTERM', 'SIGINT'] as const) {
  process.once(signal, () => {
    // Exiting early loses nothing: everything that was acknowledged is committed.
    setTimeout(() => process.exit(0), STOP_TIMEOUT_MS).unref();
    void stop().then(() => process.exit(0));
  });
}

try {
  const kafka = await startKafka({
    databaseUrl: databaseUrl!,
    port,
    host: KAFKA_HOST,
    ...(KAFKA_ADVERTISED_HOST && { advertisedHost: KAFKA_ADVERTISED_HOST }),
    ...(advertisedPort && { advertisedPort }),
    log,
  });
  stop = kafka.stop;
  log(`ready on ${kafka.brokers}`);
} catch (error) {
  const { code, message } = error as NodeJS.ErrnoException;
  if (code === 'EADDRINUSE')
    exitWithError(`port ${port} for Kafka is taken: set KAFKA_PORT (or PORT_OFFSET) to a free one`);
  exitWithError(message);
}
