import { type ChildProcess, spawn } from 'node:child_process';
import { setTimeout as sleep } from 'node:timers/promises';

/** A chain node that runs as a child process on 127.0.0.1. */
export interface ChainNode {
  readonly process: ChildProcess;
  /** JSON-RPC address, with user name and password where the node wants them. */
  readonly url: string;
  /** One JSON-RPC call. Throws Error with the message of the node. */
  readonly call: RpcCall;
  /** Ends the process with a signal, SIGTERM unless given. Resolves when it has ended. */
  readonly stop: (signal?: NodeJS.Signals) => Promise<void>;
}

export interface NodeCommand {
  readonly file: string;
  readonly args: readonly string[];
  readonly url: string;
  /** A call that succeeds once the node is ready. */
  readonly readyCall: string;
  /** Called for each piece of the node's output. */
  readonly onOutput?: ((text: string) => void) | undefined;
}

const START_MS = 30_000;

/** Starts a node and resolves once it answers. Throws Error with the node's last output if it ends or stays silent. */
export const startNode = async ({
  file,
  args,
  url,
  readyCall,
  onOutput = () => {},
}: NodeCommand): Promise<ChainNode> => {
  const child = spawn(file, args, { stdio: ['ignore', 'pipe', 'pipe'] });
  const kill = () => child.kill('SIGKILL');
  process.once('exit', kill);
  child.once('exit', () => process.off('exit', kill));
  let lastOutput = '';
  let failed = false;
  child.on('error', (error) => {
    lastOutput = error.message;
    failed = true;
  });
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding('utf8').on('data', (text: string) => {
      lastOutput = (lastOutput + text).slice(-2_000);
      onOutput(text);
    });
  const hasEnded = () => failed || child.exitCode !== null || child.signalCode !== null;
  const stop = async (signal: NodeJS.Signals = 'SIGTERM') => {
    if (hasEnded()) return;
    const ended = new Promise((resolve) => child.once('exit', resolve));
    child.kill(signal);
    await ended;
  };
  const call = rpcClient(url);
  const deadline = performance.now() + START_MS;
  for (;;) {
    if (hasEnded()) throw new Error(`the node ended at its start: ${lastOutput.trim()}`);
    try {
      await call(readyCall);
      return { process: child, url, call, stop };
    } catch (cause) {
      if (performance.now() > deadline) {
        await stop('SIGKILL');
        throw new Error(`the node did not answer: ${lastOutput.trim()}`, { cause });
      }
      await sleep(15);
    }
  }
};

/** One JSON-RPC call. Throws Error with the message of the node. */
export type RpcCall = <T = unknown>(method: string, ...params: unknown[]) => Promise<T>;

/** Calls to a node by its URL, which may contain a user name and a password. */
export const rpcClient = (url: string): RpcCall => {
  const { origin, pathname, search, username, password } = new URL(url);
  const authorization = username && { authorization: `Basic ${btoa(`${username}:${password}`)}` };
  return async <T>(method: string, ...params: unknown[]): Promise<T> => {
    const response = await fetch(`${origin}${pathname}${search}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...authorization },
      body: JSON.stringify({ jsonrpc: '2.0', id: 1, method, params }),
    });
    const answer = (await response.json()) as { result?: T; error?: { message: string } | null };
    if (answer.error) throw new Error(`${method}: ${answer.error.message}`);
    return answer.result as T;
  };
};

export interface BitcoinNodeOptions {
  /** Address that gets the coins of blocks that btcd mines by `generate`. */
  readonly miningAddress: string;
  /** `regtest` unless given. A `signet` without peers stays at its block 0. */
  readonly chain?: 'regtest' | 'signet';
  readonly onOutput?: ((text: string) => void) | undefined;
}

export interface BitcoinNode extends ChainNode {
  /** Where other nodes connect: `host:port`. */
  readonly peer: string;
}
