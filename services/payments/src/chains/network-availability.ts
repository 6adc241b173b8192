import type { Queryable } from '@cpg/platform/postgres';
import type { DepositNetwork } from '../addresses/deposit-network.ts';
import { type ChainKind, chainKindOf } from './chain-kind.ts';

/** The nodes of each network, by its name. */
export type ChainUrls = Readonly<Record<string, readonly string[]>>;

/** The settings of all chains. */
export interface ChainsConfig {
  readonly ENVIRONMENT: 'sandbox' | 'production';
  readonly CHAIN_URLS: ChainUrls;
  readonly CHAIN_POLL_MS?: number | undefined;
}

/** Whether new orders may show addresses on a network. Somebody reads it at its tip; or it has no nodes in a sandbox,
 *  where reports of `/debug` stand for the chain. */
export type NetworkState =
  /** For `forMs` from now on, unless the tables say otherwise before. */
  | { readonly isAvailable: true; readonly forMs: number }
  /** `reason` is for merchants and operators. `isExpected` while nothing says that it needs an operator. */
  | { readonly isAvailable: false; readonly reason: string; readonly isExpected: boolean };

export type NetworkStates = ReadonlyMap<string, NetworkState>;

export interface NetworkAvailability {
  /** The states of all configured networks, at most a second old. While the tables cannot be read, what they said last
   *  counts for as long as it may. */
  readonly read: () => Promise<NetworkStates>;
  /** The states that were read last, for metrics. Starts another read, for the next call. Null before the first. */
  readonly latest: () => NetworkStates | null;
}

export interface NetworkAvailabilityOptions {
  readonly config: ChainsConfig & {
    readonly networks: readonly Pick<DepositNetwork, 'name' | 'chainId'>[];
  };
  readonly db: Queryable;
  readonly now: () => Date;
  /** Monotonic clock. */
  readonly nowMs?: () => number;
}

/** The marks of a network in the tables. */
export interface ChainMarks {
  readonly network: string;
  readonly read_at: Date | null;
  readonly halted: string | null;
  readonly stalled: string | null;
}

const ROWS_HOLD_MS = 1_000;
/** A restart of payments, or of a node, must not refuse orders: reading goes on soon, and finds their deposits. */
const OUTAGE_MS = 5 * 60_000;

export const networkAvailability = ({
  config,
  db,
  now,
  nowMs = () => performance.now(),
}: NetworkAvailabilityOptions): NetworkAvailability => {
  const { ENVIRONMENT: environment, CHAIN_URLS, CHAIN_POLL_MS, networks } = config;
  let latest: { readonly rows: readonly ChainMarks[]; readonly readMs: number } | undefined;
  let reading: Promise<void> | undefined;
  const statesOf = (rows: readonly ChainMarks[]): NetworkStates =>
    new Map(
      networks.map(({ name, chainId }) => {
        const kind = CHAIN_URLS[name] && chainKindOf(chainId, CHAIN_POLL_MS);
        const marks = rows.find(({ network }) => network === name);
        return [name, networkState(marks, { kind, environment, at: now() })];
      }),
    );
  const readRows = async (readMs: number): Promise<void> => {
    const rows = await readMarks(db).catch((error: unknown) => {
      if (!latest) throw error;
      return latest.rows;
    });
    latest = { rows, readMs };
  };
  const read = async (): Promise<NetworkStates> => {
    const askedMs = nowMs();
    if (!latest || askedMs - latest.readMs >= ROWS_HOLD_MS)
      await (reading ??= readRows(askedMs).finally(() => (reading = undefined)));
    return statesOf(latest!.rows);
  };
  const latestStates = () => {
    void read().catch(() => {});
    return latest ? statesOf(latest.rows) : null;
  };
  return { read, latest: latestStates };
};

/** `kind` is absent for a network without nodes. */
export const networkState = (
  marks: ChainMarks | undefined,
  {
    kind,
    environment,
    at,
  }: {
    readonly kind: ChainKind | undefined;
    readonly environment: 'sandbox' | 'production';
    readonly at: Date;
  },
): NetworkState => {
  const unavailable = (reason: string, isExpected = false) => ({ isAvailable: false, reason, isExpected }) as const;
  if (!kind)
    return environment === 'sandbox'
      ? { isAvailable: true, forMs: OUTAGE_MS }
      : unavailable('it has no nodes in CHAIN_URLS');
  if (marks && marks.halted !== null) return unavailable('its reading halted');
  if (marks && marks.stalled !== null) return unavailable('its nodes are behind');
  const readAt = marks?.read_at ?? null;
  if (readAt === null) return unavailable('it has not been read up to its newest block yet', true);
  // The clock may have been set back since.
  const forMs = Math.max(OUTAGE_MS, 4 * kind.pollMs) - Math.max(0, at.getTime() - readAt.getTime());
  return forMs > 0
    ? { isAvailable: true, forMs }
    : unavailable(`it was last read up to its newest block at ${readAt.toISOString()}`, true);
};

const readMarks = async (db: Queryable): Promise<ChainMarks[]> => {
  const { rows } = await db.query<ChainMarks>({
    name: 'chain-marks',
    text: 'select network, read_at, halted, stalled from payments.chain_cursors',
  });
  return rows;
};

/** The networks with nodes: the ones whose chains are read. */
export const watchedNetworks = <N extends { readonly name: string }>({
  networks,
  CHAIN_URLS,
}: {
  readonly networks: readonly N[];
  readonly CHAIN_URLS: ChainUrls;
}): N[] => networks.filter(({ name }) => CHAIN_URLS[name] !== undefined);
