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

/** Limits how many requests of a merchant do the same costly work at a time. */
export const createMerchantSlots = ({
  maxRunning,
  maxWaiting = Infinity,
}: {
  maxRunning: number;
  maxWaiting?: number;
}): MerchantSlots => {
  const slotsByMerchant = new Map<string, Slots>();
  return {
    acquire: (merchantId) => {
      const slots = slotsByMerchant.get(merchantId) ?? { running: 0, waiting: [] };
      const free = () => {
        const startNext = slots.waiting.shift();
        if (startNext) return startNext();
        slots.running -= 1;
        if (slots.running === 0) slotsByMerchant.delete(merchantId);
      };
      if (slots.running < maxRunning) {
        slots.running += 1;
        slotsByMerchant.set(merchantId, slots);
        return Promise.resolve(free);
      }
      if (slots.waiting.length >= maxWaiting) return null;
      return new Promise((resolve) => slots.waiting.push(() => resolve(free)));
    },
  };
};
