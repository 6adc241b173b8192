import fc from 'fast-check';
import { type HistoryPage, mergeHistory, OrderHistory, PaymentHistory } from './history.ts';

const places = fc.uniqueArray(fc.string({ minLength: 1, maxLength: 3 }), { maxLength: 30 });

/** A service that tells `told` in order, so many at a time. */
const teller =
  (told: readonly string[], atOnce: number) =>
  (after: string | undefined): HistoryPage<string> => {
    const left = told.filter((place) => after === undefined || place > after);
    const messages = left.slice(0, atOnce).map((place) => ({ place, message: place }));
    return { messages, more: left.length > atOnce };
  };

test('page by page, what several services tell is told once, and in order', () => {
  fc.assert(
    fc.property(
      places,
      fc.array(fc.nat(2), { minLength: 30, maxLength: 30 }),
      fc.integer({ min: 1, max: 5 }),
      (all, whose, atOnce) => {
        const services = [0, 1, 2].map((service) => {
          const own = all.filter((_, index) => whose[index] === service).sort((a, b) => (a < b ? -1 : 1));
          return teller(own, atOnce);
        });
        const told: string[] = [];
        for (let after: string | undefined; ;) {
          const { messages, more } = mergeHistory(services.map((tell) => tell(after)));
          told.push(...messages.map(({ message }) => message));
          if (!more) break;
          after = messages.at(-1)!.place;
        }
        expect(told).toEqual([...all].sort((a, b) => (a < b ? -1 : 1)));
      },
    ),
  );
});

test.each([
  ['orders', OrderHistory],
  ['payments', PaymentHistory],
])('a page of %s has to say whether more may follow', (_, history) => {
  expect(history.parse({ messages: [], more: true })).toEqual({ messages: [], more: true });
  expect(history.safeParse({ messages: [] }).success).toBe(false);
});
