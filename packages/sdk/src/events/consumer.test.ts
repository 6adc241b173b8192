import { exampleMessage } from '@cpg/contracts';
import { handle, type Transaction } from '../../examples/consumer.ts';

const created = structuredClone(exampleMessage('order.created')) as unknown as Record<string, unknown>;
const orderId = created.orderid as string;
const of = (sequence: number, changes: object = {}) =>
  JSON.stringify({ ...created, sequence: String(sequence), ...changes });
const deletion = (sequence: number) =>
  JSON.stringify({
    ...(exampleMessage('order.deleted') as object),
    subject: orderId,
    orderid: orderId,
    sequence: String(sequence),
  });
const payment = (sequence: number) =>
  JSON.stringify({
    ...(exampleMessage('payment.applied') as object),
    orderid: orderId,
    sequence: String(sequence),
  });

/** A store in memory, and the consumer on it. */
const consumer = () => {
  const sequences = new Map<string, bigint>();
  const copies = new Map<string, { orderId: string; resource: object }>();
  const deleted = new Set<string>();
  let saves = 0;
  const transaction: Transaction = {
    lastSequence: async (subject) => sequences.get(subject),
    saveSequence: async (subject, sequence) => void sequences.set(subject, sequence),
    isDeleted: async (id) => deleted.has(id),
    deleteOrder: async (id) => {
      deleted.add(id);
      for (const [subject, copy] of copies) if (copy.orderId === id) copies.delete(subject);
    },
    saveCopy: async (subject, id, resource) => {
      saves += 1;
      copies.set(subject, { orderId: id, resource });
    },
  };
  return { take: (value: string) => handle(value, (work) => work(transaction)), copies, saves: () => saves };
};

test('a message that comes twice, or after a later one, is handled once', async () => {
  const { take, copies, saves } = consumer();
  for (const value of [of(0), of(0), of(2), of(1)]) await take(value);
  expect([copies.size, saves()]).toEqual([1, 2]);
});

test('a deletion removes the order and its payments, and later messages do not bring them back', async () => {
  const { take, copies } = consumer();
  for (const value of [of(0), payment(0), deletion(5)]) await take(value);
  expect(copies.size).toBe(0);
  for (const value of [of(1), payment(1)]) await take(value);
  expect(copies.size).toBe(0);
});

test('unknown types and values are kept, and nothing fails', async () => {
  const { take, copies } = consumer();
  const { change, resource } = created.data as { change: object; resource: object };
  await take(of(0, { type: 'order.of_the_future', data: { new: true } }));
  expect(copies.size).toBe(0);
  await take(of(1, { data: { change, resource: { ...resource, status: 'of_the_future' } } }));
  expect(copies.get(orderId)!.resource).toMatchObject({ status: 'of_the_future' });
});

test('a message that is none throws', async () => {
  await expect(consumer().take('{"source":"/orders"}')).rejects.toThrow();
});
