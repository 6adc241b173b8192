import { CommitStatement } from './commit-statement.ts';

/** How long rows wait for others, so that they share a statement. */
const DELAY_MS = 5;
/** So many bytes are stored without delay. */
const FULL_BYTES = 256 * 1024;
const MAX_BYTES = 1024 * 1024;
/** While the oldest row waits for longer than this, PostgreSQL is slow, and no more rows may wait. */
const MAX_AGE_MS = 100;

interface Group {
  readonly rows: CommitStatement;
  bytes: number;
  /** When its first row was added, by `performance.now()`. */
  sinceMs: number;
}

/** The rows of records that are visible already. They are stored in the order in which the records became visible. */
export class WriteBehind {
  private readonly onDue: () => void;
  private readonly maxBytes: number;
  private waiting = emptyGroup();
  private stored = emptyGroup();
  private timer: NodeJS.Timeout | undefined;

  /** `onDue` is called when the rows should be stored. `maxBytes` limits those that are not stored yet. */
  constructor(onDue: () => void, maxBytes: number) {
    this.onDue = onDue;
    this.maxBytes = Math.min(maxBytes, MAX_BYTES);
  }

  /** The rows that wait. After adding some, call `added`. */
  get rows(): CommitStatement {
    return this.waiting.rows;
  }

  get isEmpty(): boolean {
    return this.waiting.bytes + this.stored.bytes === 0;
  }

  /** Whether rows with `bytes` may wait. */
  hasRoom(bytes: number): boolean {
    const { waiting, stored } = this;
    if (this.isEmpty) return bytes <= this.maxBytes;
    const { sinceMs } = stored.bytes > 0 ? stored : waiting;
    return waiting.bytes + stored.bytes + bytes <= this.maxBytes && performance.now() - sinceMs <= MAX_AGE_MS;
  }

  added(bytes: number): void {
    const { waiting } = this;
    if (waiting.bytes === 0) {
      waiting.sinceMs = performance.now();
      this.timer = setTimeout(this.onDue, DELAY_MS);
    }
    const wasFull = waiting.bytes >= FULL_BYTES;
    waiting.bytes += bytes;
    if (!wasFull && waiting.bytes >= FULL_BYTES) this.onDue();
  }

  /** Takes the rows that wait. The next statement of the session must store them. */
  take(): CommitStatement {
    clearTimeout(this.timer);
    this.stored = this.waiting;
    this.waiting = emptyGroup();
    return this.stored.rows;
  }

  /** The rows that were taken are stored. */
  done(): void {
    this.stored = emptyGroup();
  }

  /** Forgets all rows: the session that should have stored them is lost. */
  clear(): void {
    this.take();
    this.done();
  }
}

const emptyGroup = (): Group => ({ rows: new CommitStatement(), bytes: 0, sinceMs: 0 });
