import { startKafka } from './index.ts';

const END_WITHIN_MS = 8_000;

const say = (line: string) => void process.stdout.write(`kafka: ${line}\n`);
const refuse = (line: string): never => {
  process.stderr.write(`kafka: ${line}\n`);
  process.exit(1);
};

const { KAFKA_DATABASE_URL: databaseUrl, KAFKA_PORT = '9092', KAFKA_HOST = '127.0.0.1' } = process.env;
if (!databaseUrl) refuse('set KAFKA_DATABASE_URL to a PostgreSQL database for the broker');
const portIn = (name: string, value: string): number => {
  const port = Number(value);
  return Number.isInteger(port) && port >= 0 && port <= 65_535
    ? port
    : refuse(`${name} must be a port, not "${value}"`);
};
const port = portIn('KAFKA_PORT', KAFKA_PORT);
const { KAFKA_ADVERTISED_PORT } = process.env;
const advertisedPort = KAFKA_ADVERTISED_PORT && portIn('KAFKA_ADVERTISED_PORT', KAFKA_ADVERTISED_PORT);

let stop = async () => {}; // until there is something to stop
for (const signal of ['SIGTERM', 'SIGINT'] as const) {
  process.once(signal, () => {
    // What was acknowledged is stored: a database that hangs must not hold up the end.
    setTimeout(() => process.exit(0), END_WITHIN_MS).unref();
    void stop().then(() => process.exit(0));
  });
}

try {
  const kafka = await startKafka({
    databaseUrl: databaseUrl!,
    port,
    host: KAFKA_HOST,
    ...(advertisedPort && { advertisedPort }),
    log: say,
  });
  stop = kafka.stop;
  say(`ready on ${kafka.brokers}`);
} catch (error) {
  const { code, message } = error as NodeJS.ErrnoException;
  if (code === 'EADDRINUSE') refuse(`port ${port} for Kafka is taken: set KAFKA_PORT (or PORT_OFFSET) to a free one`);
  refuse(message);
}
