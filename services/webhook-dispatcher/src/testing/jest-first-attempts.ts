import { createSender, type SenderOptions } from '../attempts/send.ts';
import { type Dispatchers, dispatchers, message } from './jest-dispatchers.ts';

/** What the database has of a delivery after its first attempt. */
export interface Recorded {
  readonly status: string;
  readonly next_attempt_at: Date | null;
  readonly outcome: string;
  readonly status_code: number | null;
  readonly error: string | null;
  readonly waited: number | null;
}

/** Starts a dispatcher per delivery, to any URL. The tests of a file share a database. */
export const firstAttempts = () => {
  let system: Dispatchers;
  const closing: (() => Promise<unknown>)[] = [];
  beforeAll(async () => {
    system = await dispatchers();
  });
  afterEach(async () => {
    await system.empty();
    await Promise.all(closing.splice(0).map((close) => close()));
  });
  afterAll(() => system.close());
  return {
    system: () => system,
    /** Closes something after the test. */
    closeAfter: <T extends { close: () => Promise<unknown> }>(opened: T): T => {
      closing.push(opened.close);
      return opened;
    },
    /** Delivers one event to `url`, with a retry planned in 100 s, and returns what is recorded after its first
     *  attempt. */
    deliver: async (url: string, options: Partial<SenderOptions> = {}): Promise<Recorded> => {
      const now = () => new Date();
      const sender = createSender({ allowLocal: true, connections: 2, now, ...options });
      closing.push(sender.close);
      const { consume } = await system.start({ schedule: [100], sender });
      const { merchantId } = await system.webhook(url);
      await consume([message({ type: 'order.paid', merchantId })]);
      return system.eventually<Recorded>(
        `select d.status, d.next_attempt_at, a.outcome, a.status_code, a.error,
           extract(epoch from d.next_attempt_at - a.started_at)::float as waited
         from webhooks.deliveries d join webhooks.attempts a on a.delivery_id = d.id where d.attempts = 1`,
      );
    },
  };
};
