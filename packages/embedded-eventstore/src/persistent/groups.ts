import { type GroupRefusal, invalid, RefusedError, unavailable } from '../refusals.ts';
import { ALL, deleteGroup, type GroupRow, loadGroups, saveCheckpoint, saveGroup } from '../storage/group-rows.ts';
import type { Writer } from '../storage/writer.ts';
import type { Store } from '../store.ts';
import { parkedStreamOf } from './parked-messages.ts';
import { RunningGroup, type Subscriber } from './running-group.ts';
import { faultOf, filterOf, type GroupSettings } from './settings.ts';
import { startOf } from './source.ts';

/** Which group: of a stream, or of the log when `source` is ALL. */
export interface GroupKey {
  readonly source: string;
  readonly name: string;
}

export interface GroupsOptions {
  readonly store: Store;
  readonly writer: Pick<Writer, 'withClient'>;
  readonly now: () => number;
  readonly log: (line: string) => void;
}

const TICK_MS = 250;
const MAX_NAME_BYTES = 2_000;

/** The persistent subscriptions of this server. They are in the database; at work are those of a server that holds
 *  the writer's lock, from the first call that asks for one. All methods throw RefusedError. */
export class Groups {
  readonly #options: GroupsOptions;
  #running: Promise<Map<string, RunningGroup>> | null = null;
  #turn: Promise<unknown> = Promise.resolve();
  readonly #ticking: NodeJS.Timeout;

  constructor(options: GroupsOptions) {
    this.#options = options;
    this.#ticking = setInterval(() => void this.#tick(), TICK_MS).unref();
  }

  create(key: GroupKey, settings: GroupSettings): Promise<void> {
    return this.#inTurn(async (running) => {
      if (running.has(idOf(key))) throw refused('exists', key);
      this.#check(key, settings);
      const start = await startOf(this.#options.store, key.source, settings.startFrom);
      const row: GroupRow = { ...key, settings, start, checkpoint: null };
      await this.#options.writer.withClient((client) => saveGroup(client, row));
      running.set(idOf(key), this.#run(row));
    });
  }

  /** Its subscribers are dropped. It goes on where it was, and starts anew only if it had not come anywhere; what it
   *  filters stays as it was. */
  update(key: GroupKey, settings: GroupSettings): Promise<void> {
    return this.#inTurn(async (running) => {
      const group = find(running, key);
      const filtered = { ...settings, filter: group.row.settings.filter };
      this.#check(key, filtered);
      const start = await startOf(this.#options.store, key.source, settings.startFrom);
      await group.stop(refused('dropped', key), true);
      const row = { ...key, settings: filtered, start, checkpoint: group.state.checkpoint };
      await this.#options.writer.withClient((client) => saveGroup(client, row));
      running.set(idOf(key), this.#run(row));
    });
  }

  /** Its subscribers are dropped and its parked messages forgotten. */
  delete(key: GroupKey): Promise<void> {
    return this.#inTurn(async (running) => {
      const group = find(running, key);
      await group.stop(refused('dropped', key), false);
      await group.parked.clear();
      await this.#options.writer.withClient((client) => deleteGroup(client, key));
      running.delete(idOf(key));
    });
  }

  async join(key: GroupKey, subscriber: Subscriber): Promise<RunningGroup> {
    const group = await this.get(key);
    group.join(subscriber);
    return group;
  }

  async get(key: GroupKey): Promise<RunningGroup> {
    return find(await this.#load(), key);
  }

  /** Those of one source or of all, by name. Throws `does-not-exist` for a source that has none. */
  async list(source?: string): Promise<RunningGroup[]> {
    const all = [...(await this.#load()).values()].filter(({ row }) => source === undefined || row.source === source);
    if (source !== undefined && all.length === 0) throw refused('does-not-exist', { source, name: '' });
    return all.sort((a, b) => (idOf(a.row) < idOf(b.row) ? -1 : 1));
  }

  /** Drops all subscribers and begins again with what is committed. */
  restart(): Promise<void> {
    return this.#inTurn(async (running) => {
      for (const group of running.values()) await group.stop(refused('dropped', group.row), true);
      this.#running = null;
    });
  }

  /** The lock is lost: nothing that is known outlives it. */
  forget(): void {
    const running = this.#running;
    this.#running = null;
    void running?.then((groups) => stopAll(groups, false)).catch(() => {});
  }

  /** Saves how far the groups have come, and lets go of their subscribers. */
  async stop(): Promise<void> {
    clearInterval(this.#ticking);
    await this.#turn;
    const running = this.#running;
    this.#running = null;
    await running?.then((groups) => stopAll(groups, true)).catch(() => {});
  }

  #check({ source, name }: GroupKey, settings: GroupSettings): void {
    if (name === '') throw invalid('a group has a name');
    const { startFrom, filter } = settings;
    if (filter) {
      try {
        filterOf(filter);
      } catch (error) {
        throw invalid((error as Error).message);
      }
    }
    const isBeyond = source === ALL && typeof startFrom === 'bigint' && startFrom > this.#options.store.live.head;
    const isTooLong = Buffer.byteLength(parkedStreamOf(source, name)) > MAX_NAME_BYTES;
    const reason = isBeyond
      ? `it cannot start at position ${startFrom}, the log ends at ${this.#options.store.live.head}`
      : isTooLong
        ? `the names of stream and group are too long: a stream name has at most ${MAX_NAME_BYTES} bytes`
        : faultOf(settings);
    if (reason !== null) throw refused('failed', { source, name }, reason);
  }

  #run(row: GroupRow): RunningGroup {
    const { store, writer, now, log } = this.#options;
    return new RunningGroup(row, {
      store,
      now,
      log,
      saveCheckpoint: (key, place) => writer.withClient((client) => saveCheckpoint(client, key, place)),
    });
  }

  #load(): Promise<Map<string, RunningGroup>> {
    if (this.#running) return this.#running;
    const loading = this.#options.writer
      .withClient(loadGroups)
      .then((rows) => new Map(rows.map((row) => [idOf(row), this.#run(row)])));
    this.#running = loading;
    loading.catch(() => {
      if (this.#running === loading) this.#running = null;
    });
    return loading;
  }

  /** One change of the groups after another. */
  #inTurn(change: (running: Map<string, RunningGroup>) => Promise<void>): Promise<void> {
    const done = this.#turn.then(async () => change(await this.#load()));
    this.#turn = done.catch(() => {});
    return done;
  }

  async #tick(): Promise<void> {
    const running = await this.#running?.catch(() => null);
    for (const group of running?.values() ?? []) group.tick();
  }
}

const idOf = ({ source, name }: GroupKey): string => `${source}::${name}`;

const find = (running: Map<string, RunningGroup>, key: GroupKey): RunningGroup => {
  const group = running.get(idOf(key));
  if (!group) throw refused('does-not-exist', key);
  return group;
};

const refused = (what: 'exists' | 'does-not-exist' | 'dropped' | 'failed', key: GroupKey, reason?: string) => {
  const kind: GroupRefusal['kind'] = `persistent-subscription-${what}`;
  return new RefusedError({ kind, stream: key.source, group: key.name, ...(reason !== undefined && { reason }) });
};

const stopAll = async (groups: Map<string, RunningGroup>, saves: boolean): Promise<void> => {
  const reason = unavailable('the event store is not ready');
  await Promise.all([...groups.values()].map((group) => group.stop(reason, saves)));
};
