import { type RpcCall, rpcClient } from '@cpg/local-chain';
import pg from 'pg';
import { z } from 'zod';
import { serviceAdmin } from './services.ts';
import type { StackFiles } from './stack-files.ts';
import { until } from './until.ts';

/** The EVM chain that a stack runs. */
export const LOCAL_NETWORK = 'ethereum-local';

/** Calls to the chain of a stack; null if it runs none. */
export const rpcOf = ({ environment }: StackFiles, network = LOCAL_NETWORK): RpcCall | null => {
  const urls = JSON.parse(environment.CHAIN_URLS || '{}') as Record<string, string[]>;
  const url = urls[network]?.[0];
  return url === undefined ? null : rpcClient(url);
};

const Details = z.object({
  height: z.int().nullable(),
  tip: z.int().nullable(),
  read_at: z.string().nullable(),
  halted: z.string().optional(),
  /** Why new orders do not show the network. */
  unavailable: z.string().optional(),
});
const Ready = z.looseObject({ chains: z.record(z.string(), Details) });

/** How far a network was read, as `/health/ready` of payments shows it. */
export type ChainState = z.infer<typeof Details>;

const chainState = async ({ environment }: StackFiles, network: string): Promise<ChainState> => {
  const response = await fetch(`${environment.PAYMENTS_URL!.split(',')[0]}/health/ready`);
  const { chains } = Ready.parse(await response.json());
  return chains[network]!;
};

/** Whether reading goes on and new orders show the network. Both parts can be a second old. */
export const isAvailable = ({ halted, unavailable }: ChainState): boolean =>
  halted === undefined && unavailable === undefined;

/** Waits until the state of a network fulfils a condition. */
export const untilChain = (
  stack: StackFiles,
  network: string,
  isAsWanted: (state: ChainState) => boolean,
): Promise<ChainState> =>
  until('the state of the chain', async () => {
    const state = await chainState(stack, network);
    return isAsWanted(state) && state;
  });

/** The value of a metric of a network; null while this instance of payments does not read it. */
export const chainMetric = async (
  { environment }: Pick<StackFiles, 'environment'>,
  name: string,
  network: string,
  paymentsUrl = environment.PAYMENTS_URL!,
): Promise<number | null> => {
  const text = await metricsOf(environment, paymentsUrl);
  const value = new RegExp(`^${name}\\{[^}]*network="${network}"[^}]*\\} (\\S+)$`, 'm').exec(text)?.[1];
  return value === undefined ? null : Number(value);
};

/** The metrics of an instance of payments, as Prometheus reads them. */
export const metricsOf = async (
  environment: StackFiles['environment'],
  paymentsUrl = environment.PAYMENTS_URL!,
): Promise<string> => {
  const headers = { authorization: `Bearer ${environment.METRICS_TOKEN}` };
  return (await fetch(`${paymentsUrl}/metrics`, { headers })).text();
};

/** Rescans a network from a height, as an operator does. */
export const rescan = async (stack: StackFiles, network: string, from: number): Promise<void> => {
  const { code, output } = await serviceAdmin(
    stack,
    'payments',
    `chains rescan ${network} --from ${from} --apply`,
  ).outcome();
  if (code !== 0) throw new Error(`chains rescan ended with ${code}: ${output}`);
};

/** Writes of transfers that wait: payments has read a block, and has not committed it. */
export interface HeldTransfers {
  /** Waits until payments waits. */
  readonly areWaitedFor: () => Promise<void>;
  readonly release: () => Promise<void>;
}

export const holdTransfers = async ({ databaseUrl }: StackFiles): Promise<HeldTransfers> => {
  const client = new pg.Client({ connectionString: databaseUrl });
  client.on('error', () => {}); // tests kill PostgreSQL
  await client.connect();
  await client.query('begin; lock table payments.chain_transfers in share mode');
  const waiting = `select from pg_locks where relation = 'payments.chain_transfers'::regclass and not granted`;
  return {
    areWaitedFor: () =>
      until('payments to write a transfer', async () => (await client.query(waiting)).rowCount! > 0).then(() => {}),
    release: () => client.end(),
  };
};
