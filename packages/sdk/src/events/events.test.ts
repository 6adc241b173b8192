import { exampleMessage, ORDER_MESSAGES, PAYMENT_MESSAGES } from '@cpg/contracts';
import type { OrderPaid } from './index.ts';
import { OrderMessage, PaymentMessage } from './index.ts';

const ORDER_TYPES = ORDER_MESSAGES.map(({ message }) => message);
const PAYMENT_TYPES = PAYMENT_MESSAGES.map(({ message }) => message);
const paid = () => structuredClone(exampleMessage('order.paid')) as OrderPaid;

test.each([
  ...ORDER_TYPES.map((type) => [type, OrderMessage] as const),
  ...PAYMENT_TYPES.map((type) => [type, PaymentMessage] as const),
])('the schema accepts the example of %s and keeps all of it', (type, schema) => {
  const message = JSON.parse(JSON.stringify(exampleMessage(type))) as unknown;
  expect(schema.parse(message)).toEqual(message);
});

test('accepts a message of a type that it does not know, with its data', () => {
  const message = { ...paid(), type: 'order.of_the_future', data: { change: { new: 1 }, resource: null } };
  expect(OrderMessage.parse(message)).toEqual(message);
});

test('accepts values of open lists and fields that it does not know', () => {
  const message = paid();
  const resource = { ...message.data.resource, status: 'of_the_future', new_field: 1, currency: 'XYZ' };
  const parsed = OrderMessage.parse({ ...message, new_attribute: 1, data: { ...message.data, resource } });
  expect(parsed.data.resource).toMatchObject({ status: 'of_the_future', currency: 'XYZ' });
});

test('accepts an instruction of a rail that it does not know, and checks those that it knows', () => {
  const message = paid();
  const withInstruction = (instruction: object) => ({
    ...message,
    data: { ...message.data, resource: { ...message.data.resource, deposit_instructions: [instruction] } },
  });
  expect(OrderMessage.parse(withInstruction({ rail: 'pigeon', loft: 7 })).data.resource).toMatchObject({
    deposit_instructions: [{ rail: 'pigeon', loft: 7 }],
  });
  expect(OrderMessage.safeParse(withInstruction({ rail: 'crypto_deposit' })).success).toBe(false);
});

test.each([
  ['without an id', { id: undefined }],
  ['with a sequence that is no number', { sequence: 'first' }],
  ['without a resource', { data: { change: paid().data.change } }],
])('refuses a message %s', (_, changes) => {
  expect(OrderMessage.safeParse({ ...paid(), ...changes }).success).toBe(false);
});

test('the type of a message narrows the type of its data', () => {
  const message = OrderMessage.parse(paid());
  if (message.type === 'order.deleted') expect(message.data.resource).toBeNull();
  else expect(message.data.resource.status).toBe('paid');
  // @ts-expect-error -- only the change of an order that was paid has a reason
  expect(message.data.change.reason).toBeDefined();
});
