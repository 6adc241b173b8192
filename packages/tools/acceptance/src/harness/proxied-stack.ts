import { reservePorts, STANDARD_PORTS } from './ports.ts';
import { type Proxies, startProxies } from './proxies.ts';
import { type Stack, startStack } from './stack.ts';

export interface ProxiedStack {
  readonly stack: Stack;
  readonly proxies: Proxies;
  /** Stops all processes and removes the data. */
  readonly stop: () => Promise<void>;
}

export interface ProxiedStackOptions {
  readonly dispatchers?: number;
  /** Numbers of instances, at most two of a service. */
  readonly scale?: string | undefined;
  /** Whether services find the event store by gossip. */
  readonly discover: boolean;
  readonly env?: NodeJS.ProcessEnv;
}

const VIA_PORT_OFFSET = 1_000;

/** Starts a stack whose processes connect to each other through proxies. */
export const startProxiedStack = async ({ discover, env, ...options }: ProxiedStackOptions): Promise<ProxiedStack> => {
  const { offset, release } = await reservePorts([VIA_PORT_OFFSET]);
  const proxies = await startProxies(
    Object.entries(STANDARD_PORTS).map(([name, port]) => ({
      name,
      port: port + offset + VIA_PORT_OFFSET,
      target: port + offset,
    })),
  );
  const addresses = {
    PORT_OFFSET: String(offset),
    VIA_PORT_OFFSET: String(VIA_PORT_OFFSET),
    EVENTSTORE_DISCOVER: String(discover),
  };
  const free = () => {
    proxies.close();
    release();
  };
  try {
    const stack = await startStack({ ...options, env: { ...addresses, ...env } });
    const stop = async () => {
      await stack.stop();
      free();
    };
    return { stack, proxies, stop };
  } catch (error) {
    free();
    throw error;
  }
};
