import { type Logger, pino } from 'pino';

export type { Logger };

const SECRETS = [
  'authorization',
  'x-api-key',
  'x-signature',
  'webhook-signature',
  'cookie',
  'api_key',
  'apiKey',
  'secret',
  'password',
  'token',
];

/** One JSON line per entry, to standard output. Keys, secrets, signatures and bodies never come out. */
export const createLogger = ({ name, level }: { name: string; level: string }): Logger =>
  pino({
    name,
    level,
    base: { name, pid: process.pid },
    timestamp: pino.stdTimeFunctions.isoTime,
    formatters: { level: (label) => ({ level: label }) },
    serializers: { err: pino.stdSerializers.err, error: pino.stdSerializers.err },
    redact: {
      paths: SECRETS.flatMap((key) => [`["${key}"]`, `*["${key}"]`, `*.headers["${key}"]`]),
      censor: '[redacted]',
    },
  });
