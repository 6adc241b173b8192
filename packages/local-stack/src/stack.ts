import { join } from 'node:path';
import { readConfig } from './config.ts';
import { openDataFolder } from './data/folder.ts';
import { lockFolder } from './data/lock.ts';
import { writeSandbox } from './data/sandbox.ts';
import { secretsOf } from './data/secrets.ts';
import { inDataFolder, writeJson } from './data/write.ts';
import { addressesOf, serviceEnvironment, type StackAddresses } from './environment.ts';
import { LaunchError } from './launch-error.ts';
import { type LogStyle, renderLine, renderOwn } from './log/render.ts';
import { demoMerchant } from './merchant.ts';
import { planPorts, type PortPlan, requireFreePorts } from './ports.ts';
import { GroupStopped, type ProcessGroup, processGroup, type StopPhase } from './processes/group.ts';
import { endLeftovers } from './processes/leftovers.ts';
import { processRecord } from './processes/record.ts';
import { programsOf } from './programs.ts';
import { readinessOf, waitReady } from './readiness.ts';

export interface StackOptions {
  /** Goes over the environment of this process. */
  readonly env?: NodeJS.ProcessEnv;
  /** The same as DATA_DIR and PORT_OFFSET. */
  readonly dataDir?: string;
  readonly portOffset?: number;
  readonly dispatchers?: number;
  /** One call per line of the log; without it nothing is shown. */
  readonly log?: (line: string) => void;
  readonly colour?: boolean;
}

export interface RunningStack extends StackAddresses {
  readonly merchantId: string;
  readonly apiKey: string;
}

export interface Stack {
  /** Resolves once everything is ready. What had started is stopped when it throws: LaunchError with a sentence to show, or
   *  GroupStopped when `stop` was called meanwhile. */
  readonly start: () => Promise<RunningStack>;
  /** Services first, engines after, PostgreSQL last, within 10 s; also while it starts. */
  readonly stop: () => Promise<void>;
  /** Ends everything at once. */
  readonly kill: () => void;
  /** Of `orders`, `webhook-dispatcher-1`, `postgres`, ...; null while it does not run. */
  readonly pidOf: (name: string) => number | null;
}

const READY_WITHIN_MS = 120_000;
/** A process that ends so often before everything is ready will not get better by itself. */
const HOPELESS_DEATHS = 6;

const STOP_PHASES: readonly StopPhase[] = [
  { includes: (name) => name === 'gateway', byMs: 3_000 },
  { includes: (name) => !['eventstore', 'kafka', 'postgres'].includes(name), byMs: 6_000 },
  { includes: (name) => name !== 'postgres', byMs: 7_500 },
  { includes: () => true, byMs: 9_000 },
];

/** The engines and services of one machine, each as a process of its own that starts again when it ends. */
export const createStack = ({ dispatchers = 1, log = () => {}, colour = false, ...options }: StackOptions): Stack => {
  const env = environmentOf(options);
  let style: LogStyle = { width: 0, colour };
  let record: ReturnType<typeof processRecord> = () => {};
  let unlock = () => {};
  let stopped: Promise<void> | undefined;
  let giveUp: (reason: Error) => void = () => {};
  const givenUp = new Promise<never>((_, fail) => (giveUp = fail));
  givenUp.catch(() => {});

  const warn = (sentence: string) => log(renderOwn('warn', sentence, style));
  const group = processGroup({ warn, changed: (name, pid) => record(name, pid) });

  const launch = async (): Promise<RunningStack> => {
    const config = readConfig(env);
    const ports = planPorts(config, dispatchers);
    style = { width: Math.max(...ports.map(({ process }) => process.length)), colour };
    const dataDir = openDataFolder(config.DATA_DIR);
    unlock = lockFolder(dataDir);
    const left = await endLeftovers(dataDir);
    if (left.length > 0) warn(`ended what an earlier start had left running: ${left.join(', ')}`);
    await requireFreePorts(ports);

    const secrets = secretsOf(dataDir);
    const addresses = addressesOf(config, ports, secrets, dataDir);
    const shared = serviceEnvironment(addresses, ports, secrets, env);
    inDataFolder(dataDir, () => writeJson(join(dataDir, 'environment.json'), shared, 0o600));
    record = processRecord(dataDir, STOP_PHASES, warn);
    const programs = programsOf({
      ports,
      secrets,
      dataDir,
      databaseUrl: config.DATABASE_URL,
      env: { ...env, ...shared },
      showAll: config.LOG_LEVEL === 'debug' || config.LOG_LEVEL === 'trace',
      onLine: (name, line) => log(renderLine(name, line, style)),
      warn,
    });
    if (programs.postgres) await group.run(programs.postgres);
    await Promise.all(programs.others.map(group.run));

    const wanted = {
      databaseUrl: addresses.databaseUrl,
      pepper: shared.API_KEY_PEPPER,
      apiKey: config.SANDBOX_API_KEY,
    };
    const merchant = await demoMerchant(dataDir, wanted);
    await everythingReady(ports, group);
    const { merchantId, apiKey } = merchant;
    inDataFolder(dataDir, () =>
      writeSandbox(dataDir, { base_url: addresses.baseUrl, merchant_id: merchantId, api_key: apiKey }),
    );
    return { ...addresses, ...merchant };
  };

  const stop = () =>
    (stopped ??= (async () => {
      giveUp(new GroupStopped());
      await group.stop(STOP_PHASES);
      unlock();
    })());

  return {
    start: async () => {
      try {
        return await Promise.race([launch(), givenUp]);
      } catch (error) {
        await stop();
        throw error;
      }
    },
    stop,
    kill: group.kill,
    pidOf: group.pidOf,
  };
};

const environmentOf = ({ env, dataDir, portOffset }: StackOptions): NodeJS.ProcessEnv => ({
  ...process.env,
  ...env,
  ...(dataDir !== undefined && { DATA_DIR: dataDir }),
  ...(portOffset !== undefined && { PORT_OFFSET: String(portOffset) }),
});

const everythingReady = async (ports: readonly PortPlan[], group: ProcessGroup): Promise<void> => {
  const dying = () => group.dyingOften(HOPELESS_DEATHS);
  const faults = await waitReady(readinessOf(ports), { withinMs: READY_WITHIN_MS, givenUp: () => dying() !== null });
  if (faults.length === 0) return;
  const name = dying();
  throw new LaunchError(
    name
      ? `${name} ends each time it starts: see what it says above`
      : `not ready after ${READY_WITHIN_MS / 1000} s: ${faults.join('; ')}`,
  );
};
