export interface MerchantSlots {
  /** Waits for a slot of the merchant, in order of arrival. Resolves with the function that frees it. Null when too
   *  many requests of the merchant wait already. */
  readonly acquire: (merchantId: string) => Promise<() => void> | null;
}

interface Slots {
  running: number;
  /** Each starts the next request. */
  readonly waiting: (() => void)[];
}

/** Limits how many requests of a merchant do the same costly work at a time, and how many of all merchants together.
 *  A slot that gets free goes to the merchant with the fewest running requests. */
export const createMerchantSlots = ({
  maxRunning,
  maxWaiting = Infinity,
  maxTotal = Infinity,
}: {
  maxRunning: number;
  maxWaiting?: number;
  maxTotal?: number;
}): MerchantSlots => {
  // Those that started a request lately are last, so that each has its turn.
  const slotsByMerchant = new Map<string, Slots>();
  let total = 0;

  const start = (merchantId: string, slots: Slots) => {
    slots.running += 1;
    total += 1;
    slotsByMerchant.delete(merchantId);
    slotsByMerchant.set(merchantId, slots);
  };
  /** Call it after a slot got free. */
  const startNext = () => {
    const [next] = [...slotsByMerchant]
      .filter(([, { running, waiting }]) => waiting.length > 0 && running < maxRunning)
      .sort(([, a], [, b]) => a.running - b.running);
    if (!next) return;
    const [merchantId, slots] = next;
    start(merchantId, slots);
    slots.waiting.shift()!();
  };

  return {
    acquire: (merchantId) => {
      const slots = slotsByMerchant.get(merchantId) ?? { running: 0, waiting: [] };
      const free = () => {
        slots.running -= 1;
        total -= 1;
        if (slots.running === 0 && slots.waiting.length === 0) slotsByMerchant.delete(merchantId);
        startNext();
      };
      if (slots.running < maxRunning && total < maxTotal) {
        start(merchantId, slots);
        return Promise.resolve(free);
      }
      if (slots.waiting.length >= maxWaiting) return null;
      slotsByMerchant.set(merchantId, slots);
      return new Promise((resolve) => slots.waiting.push(() => resolve(free)));
    },
  };
};
