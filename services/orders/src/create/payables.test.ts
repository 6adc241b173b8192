import { ADDRESS_LEASE_MS, AppError, type AssignedInstruction } from '@cpg/contracts';
import { after, existing } from '../testing/jest-deciding.ts';
import type { ExistingOrder } from '../order/state.ts';
import { createOrder, instruction } from '../testing/orders.ts';
import { findPayables, type Payables, recordWith } from './payables.ts';

const instructedBy = (instruction: AssignedInstruction) =>
  existing(after(createOrder({ instructions: [instruction] })));
const order = existing(after(createOrder()));
const context = { actor: 'key:test', requestId: 'req_test', correlationId: 'req_test' };

describe('payables are put back', () => {
  const recorded = async (record: Parameters<typeof recordWith>[1], lease: () => void = () => {}) => {
    let putBack = false;
    const payables: Payables = {
      instructions: [instruction],
      requireLease: lease,
      putBack: () => void (putBack = true),
    };
    const outcome = await recordWith(payables, record).catch((error: AppError) => error.code);
    return { putBack, outcome };
  };
  const fails = (code: 'outcome_unknown' | 'dependency_unavailable' | 'overloaded') => () => {
    throw new AppError(code, 'no');
  };
  const sent = (then: () => ExistingOrder) => async (beforeAppend: () => void) => {
    beforeAppend();
    return then();
  };

  test('not when the order has them', async () =>
    expect(await recorded(sent(() => order))).toEqual({ putBack: false, outcome: order }));
  test('not when the order has them, read back with other fields', async () => {
    const readBack = instructedBy({ ...instruction, later: undefined } as AssignedInstruction);
    expect(await recorded(sent(() => readBack))).toMatchObject({ putBack: false });
  });
  test('not when the order may have them', async () =>
    expect(await recorded(sent(fails('outcome_unknown')))).toMatchObject({ putBack: false }));
  test('not when reading the order fails after it was sent', async () =>
    expect(await recorded(sent(fails('dependency_unavailable')))).toMatchObject({ putBack: false }));
  test('when nothing was sent', async () =>
    expect(await recorded(async () => fails('overloaded')())).toMatchObject({ putBack: true }));
  test('when the order was recorded before with others', async () => {
    const other = instructedBy({ ...instruction, paymentReference: 'OTHER' });
    expect(await recorded(sent(() => other))).toEqual({ putBack: true, outcome: other });
  });
  test('and nothing is sent once their lease has ended', async () =>
    expect(
      await recorded(
        sent(() => order),
        fails('dependency_unavailable'),
      ),
    ).toEqual({
      putBack: true,
      outcome: 'dependency_unavailable',
    }));
});

test('payables that payments assigns may be recorded until their lease ends, counted from before the call', async () => {
  let nowMs = 1_000;
  const instructions = async () => {
    nowMs += 2_000;
    return { instructions: [instruction] };
  };
  const payables = (await findPayables({ payments: { instructions }, nowMs: () => nowMs })(order, context))!;
  nowMs += ADDRESS_LEASE_MS - 2_001;
  payables.requireLease();
  nowMs += 1;
  expect(() => payables.requireLease()).toThrow(/came too late/);
});

describe('payables', () => {
  const taken: Payables = { instructions: [instruction], requireLease: () => {}, putBack: () => {} };
  const payablesFrom = async (stocked: Payables | null, answer: { instructions: AssignedInstruction[] } | null) => {
    const calls: unknown[] = [];
    const instructions = async (call: unknown) => {
      calls.push(call);
      return answer as never;
    };
    const found = await findPayables({ stock: { take: () => stocked }, payments: { instructions } })(order, context);
    return { found, calls };
  };

  test('come from the stock without a call', async () =>
    expect(await payablesFrom(taken, null)).toEqual({ found: taken, calls: [] }));
  test('come from payments if the stock has none, by all rails of the order', async () =>
    expect(await payablesFrom(null, { instructions: [instruction] })).toMatchObject({
      found: { instructions: [instruction] },
      calls: [
        {
          order_id: order.orderId,
          merchant_id: order.merchantId,
          currency: 'USDC',
          rails: ['gateway_pay'],
          amount_minor: '10000000',
        },
      ],
    }));
  test('are missing while a provider does not answer', async () =>
    expect((await payablesFrom(null, null)).found).toBeUndefined());
});
