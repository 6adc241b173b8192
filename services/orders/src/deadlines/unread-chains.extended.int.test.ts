import type { AssignedInstruction } from '@cpg/contracts';
import { newId } from '@cpg/platform';
import { CONTEXT, MERCHANT, type OrdersService, startOrders, until } from '../testing/jest-orders.ts';
import { createOrder, deposit, instruction } from '../testing/orders.ts';

let service: OrdersService;
beforeAll(async () => {
  service = await startOrders();
});
afterEach(() => {
  service.stub.setAvailable(true);
  service.stub.setWaitingFor([]);
});
afterAll(() => service.stop());

const acme = { ...instruction, provider: 'acme' };

/** An order with a deposit address, due in this many minutes. */
const created = async (
  expirationMinutes: number,
  instructions: AssignedInstruction[] = [deposit('ethereum')],
): Promise<string> => {
  const orderId = newId('order');
  const command = createOrder({ orderId, merchantId: MERCHANT, instructions, expirationMinutes, at: service.now() });
  await service.other.run(orderId, command, CONTEXT);
  return orderId;
};
const becomes = (orderId: string, status: string) =>
  until(async () => (await service.rowOf(orderId)).status === status);
/** The row of a due order is claimed once the timer has looked at it. */
const isLookedAt = (orderId: string) => until(async () => (await service.rowOf(orderId)).claimed_until);

test.each([
  ['was read past its deadline', () => service.stub.setWaitingFor(['ethereum'])],
  ['can be asked for, since payments is unavailable', () => service.stub.setAvailable(false)],
])('an order does not expire before its chain %s', async (_, delay) => {
  delay();
  const orderId = await created(5);
  service.advanceClock(6 * 60_000);
  await isLookedAt(orderId);
  expect(await service.rowOf(orderId)).toMatchObject({ status: 'awaiting_payment' });
  service.stub.setAvailable(true);
  service.stub.setWaitingFor([]);
  service.advanceClock(60_000);
  await becomes(orderId, 'expired');
});

test('an order does not expire before its outside provider was asked', async () => {
  service.stub.setWaitingFor(['acme']);
  const orderId = await created(5, [acme]);
  service.advanceClock(6 * 60_000);
  await isLookedAt(orderId);
  expect(await service.rowOf(orderId)).toMatchObject({ status: 'awaiting_payment' });
  service.stub.setWaitingFor([]);
  service.advanceClock(60_000);
  await becomes(orderId, 'expired');
  const [asked] = service.stub.calls.filter(({ path }) => path === 'POST /providers/waiting');
  expect(asked?.body).toEqual({ references: [{ provider: 'acme', reference: acme.paymentReference }] });
});

test('an order expires 24 hours after its deadline although its chain was not read', async () => {
  // The chain was read once since the start.
  const before = await created(5);
  service.advanceClock(6 * 60_000);
  await becomes(before, 'expired');
  service.stub.setWaitingFor(['ethereum']);
  const orderId = await created(5);
  service.advanceClock((24 * 60 + 6) * 60_000);
  await becomes(orderId, 'expired');
});

test('advancing the clock of an order expires it at once, and after a chain that is behind was read', async () => {
  const advance = async (orderId: string) =>
    (await service.call('POST', `/orders/${orderId}/time`, { minutes: 61 })).body.status;
  expect(await advance(await created(60))).toBe('expired');
  service.stub.setWaitingFor(['ethereum']);
  const answer = advance(await created(60));
  await until(async () => service.stub.calls.filter(({ path }) => path === 'POST /chains/waiting').length > 1);
  service.stub.setWaitingFor([]);
  expect(await answer).toBe('expired');
});
