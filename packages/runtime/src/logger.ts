import { type Logger, pino } from 'pino';

export type { Logger };

const REDACTED_FIELDS = [
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

/** Logs one JSON object per line to standard output. Redacts API keys, secrets, tokens and signatures. */
export const createLogger = ({ name, level }: { name: string; level: string }): Logger =>
  pino({
    name,
    level,
    base: { name, pid: process.pid },
    timestamp: pino.stdTimeFunctions.isoTime,
    formatters: { level: (label) => ({ level: label }) },
    serializers: { err: pino.stdSerializers.err, error: pino.stdSerializers.err },
    redact: {
      paths: REDACTED_FIELDS.flatMap((key) => [`["${key}"]`, `*["${key}"]`, `*.headers["${key}"]`]),
      censor: '[redacted]',
    },
  });
