import { until } from '../harness/until.ts';
import { ALL_CLOCKS, type Clock, SERVICES } from './clocks.ts';
import { type Market, newOrder, onWrongClocks, openMarket, type Service, SLOW } from './market.ts';

const PROCESSES: Readonly<Record<Clock, string>> = {
  gateway: 'gateway',
  orders: 'orders',
  payments: 'payments',
  dispatcher: 'webhook-dispatcher-1',
  eventstore: 'eventstore',
  kafka: 'kafka',
  postgres: 'postgres',
};
const OFF_BY_SECONDS = 600;
/** The clock of the event store is known by its events, and they are far between. */
const ABOUT_SECONDS = 60;

interface Case {
  readonly title: string;
  readonly clocks: readonly Clock[];
  /** The services that compare the clock of this name with their own. */
  readonly named: readonly [Service, string][];
  /** Whether it is the other clock that is wrong. */
  readonly isOther: boolean;
}
const toEach = (services: readonly Service[], clock: string) =>
  services.map((name): [Service, string] => [name, clock]);

const ALL_SERVICES: readonly Service[] = ['gateway', 'orders', 'payments', 'dispatcher'];
const CASES: readonly Case[] = [
  { title: 'services', clocks: SERVICES, named: toEach(ALL_SERVICES, 'postgres'), isOther: false },
  { title: 'payments', clocks: ['payments'], named: [['payments', 'postgres']], isOther: false },
  {
    title: 'the event store',
    clocks: ['eventstore'],
    named: toEach(['orders', 'payments'], 'event_store'),
    isOther: true,
  },
  { title: 'PostgreSQL', clocks: ['postgres'], named: toEach(ALL_SERVICES, 'postgres'), isOther: true },
  { title: 'Kafka', clocks: ['kafka'], named: [], isOther: true },
];
const SIDES = [
  { side: 'ahead', seconds: OFF_BY_SECONDS },
  { side: 'behind', seconds: -OFF_BY_SECONDS },
];

onWrongClocks('clocks that are ten minutes wrong', () => {
  let market: Market;
  beforeAll(async () => (market = await openMarket()), SLOW);
  afterEach(async () => {
    market.clocks.set(ALL_CLOCKS, 0);
    await market.trusts();
  }, SLOW);
  afterAll(() => market?.stop(), SLOW);

  test.each(CASES.flatMap((each) => SIDES.map((side) => ({ ...each, ...side }))))(
    '$title $side: orders are sold, none ends early, and readiness names the clock',
    async ({ clocks, seconds, named, isOther }) => {
      const { api } = market.desk.shop;
      const { order: open } = await newOrder(market, { expiration_minutes: 5 });
      const namesClock = () =>
        until('readiness to name the clock', async () => {
          const answers = await market.readiness();
          const skews = named.map(([name, clock]) => answers[name].clock?.skew_seconds[clock] ?? 0);
          const expected = isOther ? seconds : -seconds;
          if (skews.every((skew) => Math.abs(skew - expected) < ABOUT_SECONDS)) return true;
          throw new Error(JSON.stringify(answers));
        });

      market.clocks.set(clocks, seconds);
      await market.trade();
      await namesClock();

      // A process that starts with a wrong clock sees no step.
      for (const clock of clocks)
        await market.stack().kill(PROCESSES[clock], clock === 'postgres' ? 'SIGINT' : 'SIGTERM');
      await market.ready();
      await market.trade();
      await namesClock();

      market.clocks.set(clocks, 0);
      await market.trade();
      expect(await api.order(open.id)).toMatchObject({ status: 'awaiting_payment' });
      await api.cancel(open.id);
    },
    SLOW,
  );
});
