import type { Delivery } from '../delivery/delivery.ts';

let position = 0;

/** A delivery, by default of a new order. */
export const aDelivery = (given: Partial<Delivery> = {}): Delivery => {
  position += 1;
  return {
    position: String(position),
    id: `dlv_${position}`,
    day: '2026-01-31',
    webhookId: 'whk_1',
    orderId: `ord_${position}`,
    attempts: 0,
    attemptsBefore: null,
    isTest: false,
    event: {
      id: `evt_${position}`,
      occurredMs: 1_769_860_800_123,
      sequence: '4',
      hash: 'ab12',
      body: Buffer.from('{"event":"order:paid"}'),
    },
    ...given,
  };
};
