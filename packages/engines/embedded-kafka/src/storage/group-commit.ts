import { StorageUnavailable } from '../errors.ts';

interface WaitingItem<Item, Result> {
  readonly item: Item;
  readonly done: (result: Result) => void;
  readonly fail: (error: unknown) => void;
}

/** Commits items in groups, in order: those that are submitted in one turn of the event loop, or during a commit.
 *  `commit` returns one result per item. A result that is an Error rejects that item alone; a throw rejects the
 *  group. */
export class GroupCommit<Item, Result> {
  private waiting: WaitingItem<Item, Result>[] = [];
  private running = false;
  private readonly commit: (items: Item[]) => Promise<(Result | Error)[]>;
  private readonly sizeOf: (item: Item) => number;
  private readonly maxSize: number;

  constructor(
    commit: (items: Item[]) => Promise<(Result | Error)[]>,
    sizeOf: (item: Item) => number,
    /** Limit for the summed size of one group. One item may exceed it alone. */
    maxSize: number,
  ) {
    this.commit = commit;
    this.sizeOf = sizeOf;
    this.maxSize = maxSize;
  }

  submit(item: Item): Promise<Result> {
    return new Promise<Result>((done, fail) => {
      this.waiting.push({ item, done, fail });
      if (!this.running) void this.commitWaiting();
    });
  }

  /** Rejects the items that are not part of a commit yet. */
  refuseWaiting(): void {
    for (const { fail } of this.waiting.splice(0)) fail(new StorageUnavailable());
  }

  private async commitWaiting(): Promise<void> {
    this.running = true;
    // A request that has batches for several partitions submits them one by one.
    await Promise.resolve();
    while (this.waiting.length > 0) {
      const group = this.nextGroup();
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

  private nextGroup(): WaitingItem<Item, Result>[] {
    let size = 0;
    let count = 0;
    while (count < this.waiting.length && (count === 0 || size < this.maxSize))
      size += this.sizeOf(this.waiting[count++]!.item);
    return this.waiting.splice(0, count);
  }
}
