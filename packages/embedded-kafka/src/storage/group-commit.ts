import { StorageUnavailable } from '../errors.ts';

interface Waiting<Item, Result> {
  readonly item: Item;
  readonly done: (result: Result) => void;
  readonly fail: (error: unknown) => void;
}

/** Collects what is submitted while a commit is under way and hands it on together, in order.
 *  `commit` answers one result per item; an Error among them refuses that item alone. */
export class GroupCommit<Item, Result> {
  private waiting: Waiting<Item, Result>[] = [];
  private running = false;
  private readonly commit: (items: Item[]) => Promise<(Result | Error)[]>;
  private readonly sizeOf: (item: Item) => number;
  private readonly maxSize: number;

  constructor(
    commit: (items: Item[]) => Promise<(Result | Error)[]>,
    sizeOf: (item: Item) => number,
    /** Of the items of one commit, together. */
    maxSize: number,
  ) {
    this.commit = commit;
    this.sizeOf = sizeOf;
    this.maxSize = maxSize;
  }

  submit(item: Item): Promise<Result> {
    return new Promise<Result>((done, fail) => {
      this.waiting.push({ item, done, fail });
      if (!this.running) void this.drain();
    });
  }

  /** Refuses what has not been handed on yet. */
  refuseWaiting(): void {
    for (const { fail } of this.waiting.splice(0)) fail(new StorageUnavailable());
  }

  private async drain(): Promise<void> {
    this.running = true;
    while (this.waiting.length > 0) {
      const group = this.take();
      try {
        const results = await this.commit(group.map(({ item }) => item));
        group.forEach(({ done, fail }, n) => {
          const result = results[n]!;
          if (result instanceof Error) fail(result);
          else done(result);
        });
      } catch (error) {
        for (const { fail } of group) fail(error);
      }
    }
    this.running = false;
  }

  private take(): Waiting<Item, Result>[] {
    let size = 0;
    let count = 0;
    while (count < this.waiting.length && (count === 0 || size < this.maxSize))
      size += this.sizeOf(this.waiting[count++]!.item);
    return this.waiting.splice(0, count);
  }
}
