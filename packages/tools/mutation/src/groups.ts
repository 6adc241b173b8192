/** What `npm run test:mutation` measures, by the name of the row in its table. */
export interface Group {
  readonly paths: readonly string[];
  /** Places tried if `--sample` says nothing: ten minutes on two idle cores. */
  readonly sample: number;
}

export const GROUPS: Readonly<Record<string, Group>> = {
  orders: { paths: ['services/orders/src'], sample: 60 },
  payment: {
    paths: ['payment', 'matching', 'payables', 'addresses', 'books'].map((room) => `services/payments/src/${room}`),
    sample: 60,
  },
  contracts: { paths: ['packages/contracts/src'], sample: 60 },
  webhooks: { paths: ['services/webhook-dispatcher/src'], sample: 60 },
  gateway: { paths: ['services/gateway/src/door', 'services/gateway/src/api'], sample: 60 },
  chains: { paths: ['services/payments/src/chains'], sample: 60 },
  'event-sourcing': { paths: ['packages/event-sourcing/src', 'packages/operations/src'], sample: 60 },
};

const NOT_TRIED =
  /\.test\.tsx?$|\.d\.ts$|\/(testing|examples|generated|publish|bench)\/|\/(main|app|admin|migrate|config|index|examples?|error-texts|write)\.ts$/;

/** Whether changes of this file are tried: files that only start a service, and texts, are not. */
export const isTried = (path: string): boolean => /\.tsx?$/.test(path) && !NOT_TRIED.test(path);

/** Whether the path is one of the given files, or in one of the given folders. */
export const isIn = (path: string, paths: readonly string[]): boolean =>
  paths.some((one) => path === one || path.startsWith(`${one.replace(/\/$/, '')}/`));
