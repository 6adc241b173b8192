import { Agent } from 'node:http';

interface Address {
  readonly name: string;
  readonly host: string;
  readonly port: number;
}

/** An instance of a service behind a proxy. */
export interface Instance extends Address {
  /** Its kept-alive connections. */
  readonly agent: Agent;
}

export interface Instances {
  /** The next instance in turn that is ready and is not among those that were `tried`. When none is ready, one that is
   *  not ready: it answers with its own reason. Null when all were tried. */
  readonly next: (tried: ReadonlySet<Instance>) => Instance | null;
  /** Takes an instance out until its next successful check. */
  readonly takeOut: (instance: Instance, reason: string) => void;
  readonly stop: () => void;
}

const CHECK_EVERY_MS = 500;

export interface InstancesOptions {
  readonly addresses: readonly Address[];
  /** Resolves to null when an instance is ready, else to the reason why it is not. */
  readonly check: (address: Address) => Promise<string | null>;
  readonly warn: (sentence: string) => void;
}

/** Knows which instances are ready, and gives them out in turn. An instance that is frozen accepts connections and
 *  answers nothing, so each one is checked all the time. */
export const createInstances = ({ addresses, check, warn }: InstancesOptions): Instances => {
  const instances = addresses.map((address): Instance => ({ ...address, agent: new Agent({ keepAlive: true }) }));
  const ready = new Set<Instance>();
  let turn = 0;
  let isStopped = false;

  const takeOut = (instance: Instance, reason: string) => {
    if (ready.delete(instance) && !isStopped) warn(`${instance.name} ${reason}: requests go to the other instances`);
  };
  const checkAll = async () => {
    await Promise.all(
      instances.map(async (instance) => {
        const fault = await check(instance);
        if (fault === null) ready.add(instance);
        else takeOut(instance, fault);
      }),
    );
    if (!isStopped) timer = setTimeout(() => void checkAll(), CHECK_EVERY_MS).unref();
  };
  let timer = setTimeout(() => void checkAll(), 0).unref();

  return {
    next: (tried) => {
      turn = (turn + 1) % instances.length;
      const inTurn = [...instances.slice(turn), ...instances.slice(0, turn)].filter((instance) => !tried.has(instance));
      return inTurn.find((instance) => ready.has(instance)) ?? inTurn[0] ?? null;
    },
    takeOut,
    stop: () => {
      isStopped = true;
      clearTimeout(timer);
      for (const { agent } of instances) agent.destroy();
    },
  };
};
