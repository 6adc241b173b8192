import { join } from 'node:path';
import { findAnvil } from '@cpg/local-chain';
import { chainEnvironment } from './chain/chain-environment.ts';
import { type Config, LaunchError, readConfig } from './config.ts';
import { lockDataFolder, openDataFolder } from './data/folder.ts';
import { loadSecrets } from './data/secrets.ts';
import { explainWriteErrors, writeJson } from './data/write-file.ts';
import { ensureDemoMerchant, writeSandbox } from './demo-merchant.ts';
import { serviceEnvironment, stackAddresses, type StackAddresses } from './environment.ts';
import { type LineStyle, renderLauncherLine, renderLine } from './log-lines.ts';
import { planPorts, type PortPlan, requireFreePorts, type Scale } from './ports.ts';
import {
  createProcessGroup,
  createProcessRecord,
  GroupStoppedError,
  type ProcessGroup,
  type StopPhase,
} from './processes/group.ts';
import { stopLeftoverProcesses } from './processes/leftover-processes.ts';
import { createPrograms } from './programs.ts';
import { startProxies } from './proxy/proxy.ts';
import { readinessChecks, waitUntilReady } from './readiness.ts';

interface StackOptions {
  readonly scale: Scale;
  /** Called for each log line. */
  readonly log: (line: string) => void;
  readonly colour: boolean;
}

export interface RunningStack extends StackAddresses {
  readonly merchantId: string;
  readonly apiKey: string;
  /** Signs the owner of the demo merchant in to the dashboard, once. */
  readonly signInPath: string;
}

interface Stack {
  /** Resolves once all processes are ready. Stops them again before it throws: LaunchError with a message for the user,
   *  or GroupStoppedError when `stop` was called during the start. */
  readonly start: () => Promise<RunningStack>;
  /** Stops the services, then the engines, then PostgreSQL, within 10 s. Can be called during the start. */
  readonly stop: () => Promise<void>;
  /** Kills all processes. */
  readonly kill: () => void;
}

const READY_TIMEOUT_MS = 120_000;
// The start fails when a process crashes this often before everything is ready.
const MAX_CRASHES = 6;

const STOP_PHASES: readonly StopPhase[] = [
  { includes: (name) => /^gateway(-\d+)?$/.test(name), deadlineMs: 3_000 },
  { includes: (name) => !['eventstore', 'kafka', 'postgres', 'chain'].includes(name), deadlineMs: 6_000 },
  { includes: (name) => name !== 'postgres', deadlineMs: 7_500 },
  { includes: () => true, deadlineMs: 9_000 },
];

/** Runs engines and services on one machine, each as its own process, and restarts them when they exit. */
export const createStack = ({ scale, log, colour }: StackOptions): Stack => {
  const { env } = process;
  let style: LineStyle = { width: 0, colour };
  let record: ReturnType<typeof createProcessRecord> = () => {};
  let unlock = () => {};
  let stopProxies = () => {};
  let stopped: Promise<void> | undefined;
  let abortStart: (reason: Error) => void = () => {};
  const startAborted = new Promise<never>((_, reject) => (abortStart = reject));
  startAborted.catch(() => {});

  const warn = (sentence: string) => log(renderLauncherLine('warn', sentence, style));
  const group = createProcessGroup({ warn, onPidChange: (name, pid) => record(name, pid) });

  const launch = async (): Promise<RunningStack> => {
    const anvil = findAnvil();
    const config = configOf(env, anvil, warn);
    const ports = planPorts(config, scale);
    style = { width: Math.max(...ports.map(({ process }) => process.length)), colour };
    const dataDir = openDataFolder(config.DATA_DIR);
    unlock = lockDataFolder(dataDir);
    const leftovers = await stopLeftoverProcesses(dataDir);
    if (leftovers.length > 0) warn(`stopped processes that an earlier start had left running: ${leftovers.join(', ')}`);
    await requireFreePorts(ports);

    const secrets = loadSecrets(dataDir);
    const addresses = stackAddresses(config, ports, secrets, dataDir);
    const nodes = { ethereum: addresses.chainUrl, bitcoin: config.BITCOIND_URL };
    const chains = chainEnvironment(nodes, dataDir, env);
    const shared = { ...serviceEnvironment(addresses, ports, secrets, env), ...chains };
    explainWriteErrors(dataDir, () => writeJson(join(dataDir, 'environment.json'), shared, 0o600));
    record = createProcessRecord(dataDir, STOP_PHASES, warn);
    const programs = createPrograms({
      ports,
      secrets,
      dataDir,
      anvil,
      databaseUrl: config.DATABASE_URL,
      env: { ...env, ...shared },
      showAll: config.LOG_LEVEL === 'debug' || config.LOG_LEVEL === 'trace',
      onLine: (name, line) => log(renderLine(name, line, style)),
      warn,
    });
    stopProxies = await startProxies(ports, warn);
    await Promise.all(programs.first.map(group.run));
    await Promise.all(programs.others.map(group.run));

    const merchantOptions = {
      databaseUrl: addresses.databaseUrl,
      pepper: shared.API_KEY_PEPPER,
      apiKey: config.SANDBOX_API_KEY,
    };
    const merchant = await ensureDemoMerchant(dataDir, merchantOptions);
    await requireAllReady(ports, group);
    saveSandbox(dataDir, addresses.baseUrl, merchant);
    return { ...addresses, ...merchant };
  };

  const stop = () =>
    (stopped ??= (async () => {
      abortStart(new GroupStoppedError());
      await group.stop(STOP_PHASES);
      stopProxies();
      unlock();
    })());

  return {
    start: async () => {
      try {
        return await Promise.race([launch(), startAborted]);
      } catch (error) {
        await stop();
        throw error;
      }
    },
    stop,
    kill: group.kill,
  };
};

const saveSandbox = (
  dataDir: string,
  baseUrl: string,
  { merchantId, apiKey }: Awaited<ReturnType<typeof ensureDemoMerchant>>,
): void =>
  explainWriteErrors(dataDir, () =>
    writeSandbox(dataDir, { base_url: baseUrl, merchant_id: merchantId, api_key: apiKey }),
  );

/** Without a binary of anvil for this platform, the chain is left out. */
const configOf = (env: NodeJS.ProcessEnv, anvil: string | null, warn: (sentence: string) => void): Config => {
  const config = readConfig(env);
  if (config.CHAIN === 'off' || anvil !== null) return config;
  warn('npm has no anvil for this platform, so no chain runs: install Foundry or set ANVIL_BIN to pay orders on chain');
  return { ...config, CHAIN: 'off' };
};

const requireAllReady = async (ports: readonly PortPlan[], group: ProcessGroup): Promise<void> => {
  const crashLooping = () => group.crashLooping(MAX_CRASHES);
  const faults = await waitUntilReady(readinessChecks(ports), {
    timeoutMs: READY_TIMEOUT_MS,
    shouldStop: () => crashLooping() !== null,
  });
  if (faults.length === 0) return;
  const name = crashLooping();
  throw new LaunchError(
    name
      ? `${name} keeps crashing during its start: see its log lines above`
      : `not ready after ${READY_TIMEOUT_MS / 1000} s: ${faults.join('; ')}`,
  );
};
