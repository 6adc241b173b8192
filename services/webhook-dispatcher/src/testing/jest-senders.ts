import { createSender, type SenderOptions } from '../attempts/send.ts';
import { TEST_AUTHORITY } from './jest-tls-receiver.ts';

const closing: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  await Promise.all(closing.splice(0).map((close) => close()));
});

export const PUBLIC = '93.184.216.34';
/** Closes something after the test. */
export const closeAfter = <T extends { close: () => Promise<unknown> }>(opened: T): T => {
  closing.push(opened.close);
  return opened;
};
/** A sender with the settings of production. Every name resolves to PUBLIC unless `resolve` is given. */
export const senderOf = (options: Partial<SenderOptions>) =>
  closeAfter(
    createSender({
      allowLocal: false,
      connections: 1,
      ca: TEST_AUTHORITY,
      resolve: async () => [PUBLIC],
      now: () => new Date(),
      ...options,
    }),
  );
export const requestTo = (url: string) => ({
  webhookId: 'whk_1',
  url: new URL(url),
  headers: [],
  body: Buffer.from('{}'),
});
export const post = (url: string, options: Partial<SenderOptions> = {}) => senderOf(options).post(requestTo(url));
