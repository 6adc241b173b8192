/** Places tried in each group if `--sample` says nothing: about ten minutes on two idle cores. */
export const SAMPLE = 80;

/** The files and folders that `npm run test:mutation` measures, by the name of the row in its table. */
export const GROUPS: Readonly<Record<string, readonly string[]>> = {
  orders: ['services/orders/src'],
  payment: ['payment', 'matching', 'payables', 'addresses', 'books'].map((room) => `services/payments/src/${room}`),
  contracts: ['packages/contracts/src'],
  webhooks: ['services/webhook-dispatcher/src'],
  gateway: ['services/gateway/src/door', 'services/gateway/src/api'],
  chains: ['services/payments/src/chains'],
  'event-sourcing': ['packages/event-sourcing/src', 'packages/operations/src'],
};

const NOT_TRIED =
  /\.test\.tsx?$|\.d\.ts$|\/(testing|examples|generated|publish|bench)\/|\/(main|app|admin|migrate|config|index|examples?|error-texts|write)\.ts$/;

/** Whether changes of this file are tried: files that only start a service, and texts, are not. */
export const isTried = (path: string): boolean => /\.tsx?$/.test(path) && !NOT_TRIED.test(path);

/** Whether the path is one of the given files, or in one of the given folders. */
export const isIn = (path: string, paths: readonly string[]): boolean =>
  paths.some((one) => path === one || path.startsWith(`${one.replace(/\/$/, '')}/`));
