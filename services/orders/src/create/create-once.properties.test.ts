import { AppError } from '@cpg/contracts';
import fc from 'fast-check';
import { createOnce, type CreateOnceOptions, type EarlierCreate, idempotencyOf, keptUntil } from './create-once.ts';
import type { ExistingOrder } from '../order/state.ts';

const MERCHANT = 'mer_01ARZ3NDEKTSV4RRFFQ69G5FAV';
const FIRST_ID = 'ord_01ARZ3NDEKTSV4RRFFQ69G5FAV';
const HOUR_MS = 3_600_000;

type Step =
  /** `fate`: the answer comes; it is lost after the append; the append is lost; the create is refused before it. */
  | { type: 'create'; hash: string; fate: 'answered' | 'answer lost' | 'append lost' | 'refused' }
  | { type: 'concurrent'; hashes: string[] }
  | { type: 'delete' }
  | { type: 'pass'; hours: number };

const hash = fc.constantFrom('a', 'b');
const step: fc.Arbitrary<Step> = fc.oneof(
  fc.record({
    type: fc.constant('create' as const),
    hash,
    fate: fc.constantFrom('answered', 'answer lost', 'append lost', 'refused'),
  }),
  fc.record({ type: fc.constant('concurrent' as const), hashes: fc.array(hash, { minLength: 2, maxLength: 4 }) }),
  fc.record({ type: fc.constant('delete' as const) }),
  fc.record({ type: fc.constant('pass' as const), hours: fc.constantFrom(1, 11, 23, 24, 25) }),
);

/** The event store in memory: an id is taken by its first append, and never free again. */
const startStore = () => {
  let clockMs = Date.parse('2026-01-31T12:00:00.000Z');
  const now = () => new Date(clockMs);
  const creates = new Map<string, EarlierCreate>();
  const create = async (orderId: string, requestHash: string, requestId: string): Promise<ExistingOrder | null> => {
    const at = now();
    // Others run before the append.
    await new Promise((resume) => setImmediate(resume));
    if (creates.has(orderId)) {
      if (creates.get(orderId)!.isDeleted) throw new AppError('not_found', 'tombstoned');
      return null;
    }
    const order = { orderId } as ExistingOrder;
    const idempotency = idempotencyOf(requestHash, at);
    creates.set(orderId, { ...idempotency, isDeleted: false, merchantId: MERCHANT, created: { order, requestId } });
    return order;
  };
  return {
    now,
    pass: (hours: number) => void (clockMs += hours * HOUR_MS),
    creates,
    options: (requestHash: string, requestId: string): CreateOnceOptions => ({
      create: (orderId) => create(orderId, requestHash, requestId),
      find: async (orderId) => creates.get(orderId) ?? null,
      endsBy: now,
    }),
  };
};

/** The one order of the key at this time, as a merchant would keep it. */
interface Use {
  readonly orderId: string;
  readonly hash: string;
  readonly until: string;
  deleted: boolean;
}

test('a key stands for one order for 24 hours, whatever is lost, repeated, deleted or sent at once', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 40 }), async (steps) => {
      const store = startStore();
      let requests = 0;
      const uses: Use[] = [];
      const current = (): Use | undefined => uses.filter(({ until }) => store.now().toISOString() < until).at(-1);
      const send = async (
        requestHash: string,
        around: (options: CreateOnceOptions) => CreateOnceOptions = (o) => o,
      ) => {
        const requestId = `req_${(requests += 1)}`;
        const request = { orderId: FIRST_ID, merchantId: MERCHANT, requestHash, requestId };
        return createOnce(request, around(store.options(requestHash, requestId)));
      };
      const codeOf = async (answer: ReturnType<typeof send>) =>
        answer.then(
          ({ order, isRepeat }) => ({ orderId: order.orderId, isRepeat }),
          (error: AppError) => error.code,
        );
      const expectedFor = (use: Use, requestHash: string) => {
        if (use.hash !== requestHash) return 'idempotency_key_reused';
        return use.deleted ? 'order_deleted' : { orderId: use.orderId, isRepeat: true };
      };
      /** The order that the key has now, and that it did not have before. */
      const begun = (requestHash: string): Use => {
        const known = new Set(uses.map(({ orderId }) => orderId));
        const fresh = [...store.creates.keys()].filter((orderId) => !known.has(orderId));
        expect(fresh).toHaveLength(1);
        const until = keptUntil(store.now().toISOString());
        const use = { orderId: fresh[0]!, hash: requestHash, until, deleted: false };
        uses.push(use);
        return use;
      };
      for (const next of steps) {
        const use = current();
        if (next.type === 'pass') store.pass(next.hours);
        else if (next.type === 'delete') {
          if (!use) continue;
          use.deleted = true;
          const { created: _, ...earlier } = store.creates.get(use.orderId)!;
          store.creates.set(use.orderId, { ...earlier, isDeleted: true });
        } else if (next.type === 'concurrent') {
          const answers = await Promise.all(next.hashes.map((requestHash) => codeOf(send(requestHash))));
          const first = use ?? begun(store.creates.get([...store.creates.keys()].at(-1)!)!.requestHash!);
          const expected = next.hashes.map((requestHash) => expectedFor(first, requestHash));
          const creators = answers.filter((answer) => typeof answer === 'object' && !answer.isRepeat);
          expect(creators).toHaveLength(use ? 0 : 1);
          const asRepeats = answers.map((answer) =>
            typeof answer === 'object' ? { ...answer, isRepeat: true } : answer,
          );
          expect(asRepeats).toEqual(expected);
        } else {
          const answer = codeOf(
            send(next.hash, (options) => ({
              ...options,
              create: async (orderId) => {
                if (next.fate === 'refused') throw new AppError('rate_unavailable', 'no fresh rate');
                const unknown = new AppError('outcome_unknown', 'no answer');
                if (next.fate === 'append lost') throw unknown;
                const created = await options.create(orderId);
                if (created && next.fate === 'answer lost') throw unknown;
                return created;
              },
            })),
          );
          if (next.fate === 'append lost') expect(await answer).toBe('outcome_unknown');
          else if (use) expect(await answer).toEqual(expectedFor(use, next.hash));
          else if (next.fate === 'refused') expect(await answer).toBe('rate_unavailable');
          else {
            const got = await answer;
            const { orderId } = begun(next.hash);
            expect(got).toEqual(next.fate === 'answered' ? { orderId, isRepeat: false } : 'outcome_unknown');
          }
        }
      }
      expect(store.creates.size).toBe(uses.length);
    }),
  );
});

test('an order of another merchant is not found', async () => {
  const store = startStore();
  const request = { orderId: FIRST_ID, merchantId: MERCHANT, requestId: 'req_1' };
  await createOnce(request, store.options('a', 'req_1'));
  const other = createOnce({ ...request, merchantId: 'mer_other' }, store.options('a', 'req_2'));
  await expect(other).rejects.toMatchObject({ code: 'not_found' });
});

test('the request that created the order, sent again by a client of the service, is no repeat', async () => {
  const store = startStore();
  const request = { orderId: FIRST_ID, merchantId: MERCHANT, requestId: 'req_1' };
  expect(await createOnce(request, store.options('a', 'req_1'))).toMatchObject({ isRepeat: false });
  expect(await createOnce(request, store.options('a', 'req_1'))).toMatchObject({ isRepeat: false });
  expect(await createOnce({ ...request, requestId: 'req_2' }, store.options('a', 'req_2'))).toMatchObject({
    isRepeat: true,
  });
});
