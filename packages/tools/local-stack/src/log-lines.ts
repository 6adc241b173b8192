import type { Writable } from 'node:stream';
import { wallClock } from '@cpg/platform';

const MAX_BUFFERED_BYTES = 1024 * 1024;

/** Creates a function that writes lines to `stream`. Drops lines while more than 1 MiB is buffered, and prints the
 *  number of dropped lines later. A paused terminal therefore never blocks the stack. Ignores lines after the stream
 *  is closed. */
export const createLineWriter = (stream: Writable): ((line: string) => void) => {
  let dropped = 0;
  // Without a listener, the error of a closed pipe (EPIPE) would end the process.
  stream.on('error', () => {});
  return (line) => {
    if (!stream.writable) return;
    if (stream.writableLength > MAX_BUFFERED_BYTES) {
      dropped += 1;
      return;
    }
    const lines = dropped === 1 ? '1 line was' : `${dropped} lines were`;
    if (dropped > 0) stream.write(`(${lines} dropped because the output was not read)\n`);
    dropped = 0;
    stream.write(`${line}\n`);
  };
};

/** Layout of the log lines. */
export interface LineStyle {
  /** Width of the column with the process name, in characters. */
  readonly width: number;
  readonly colour: boolean;
}

const LEVEL_COLOURS: Record<string, number> = { trace: 90, debug: 90, warn: 33, error: 31, fatal: 31 };
const NAME_COLOURS = [36, 35, 32, 34, 96, 95, 92, 94];
const NOT_SHOWN_AS_FIELD = new Set(['level', 'time', 'pid', 'hostname', 'name', 'msg']);

/** Renders one output line of a process. A JSON log entry becomes `HH:MM:SS.mmm name  level message key=value ...` in
 *  local time, with the stack below it for errors. Any other line is only prefixed with the time and the name. */
export const renderLine = (process: string, line: string, style: LineStyle): string => {
  const entry = parseEntry(line);
  if (!entry) return `${dim(clock(wallClock()), style)} ${label(process, style)}  ${line}`;
  const { level, msg, time } = entry;
  const fields = Object.entries(entry)
    .filter(([key, value]) => !NOT_SHOWN_AS_FIELD.has(key) && value !== undefined)
    .map(([key, value]) => dim(`${key}=${short(value)}`, style));
  const words = [paint(level.padEnd(5), LEVEL_COLOURS[level], style), msg ?? '', ...fields].join(' ').trimEnd();
  return `${dim(clock(new Date(time)), style)} ${label(process, style)}  ${words}${stackOf(entry)}`;
};

/** Renders a log line of the launcher itself. */
export const renderLauncherLine = (level: string, msg: string, style: LineStyle): string =>
  renderLine('launcher', JSON.stringify({ level, time: wallClock(), msg }), style);

interface Entry {
  readonly level: string;
  readonly time: string | number;
  readonly msg?: string;
  readonly err?: { readonly stack?: unknown };
}

const parseEntry = (line: string): Entry | null => {
  if (!line.startsWith('{')) return null;
  try {
    const entry = JSON.parse(line) as Partial<Entry>;
    const known = typeof entry.level === 'string' && !Number.isNaN(new Date(entry.time ?? NaN).getTime());
    return known ? (entry as Entry) : null;
  } catch {
    return null;
  }
};

const short = (value: unknown): string => {
  if (typeof value === 'string') return /^[^\s"=]+$/.test(value) ? value : JSON.stringify(value);
  const { message } = (value ?? {}) as { message?: unknown };
  return JSON.stringify(typeof message === 'string' ? message : value);
};

const stackOf = ({ level, err }: Entry): string => {
  const stack = err?.stack;
  return typeof stack === 'string' && (level === 'error' || level === 'fatal')
    ? `\n${stack.replace(/^/gm, '    ')}`
    : '';
};

const clock = (at: Date): string =>
  [at.getHours(), at.getMinutes(), at.getSeconds()].map((part) => String(part).padStart(2, '0')).join(':') +
  `.${String(at.getMilliseconds()).padStart(3, '0')}`;

const label = (process: string, style: LineStyle): string =>
  paint(process.padEnd(style.width), NAME_COLOURS[hash(process) % NAME_COLOURS.length], style);

const hash = (text: string): number => [...text].reduce((sum, char) => (sum * 31 + char.charCodeAt(0)) >>> 0, 0);

const dim = (text: string, style: LineStyle): string => paint(text, 2, style);

const paint = (text: string, code: number | undefined, { colour }: LineStyle): string =>
  colour && code !== undefined ? `\u001b[${code}m${text}\u001b[0m` : text;
