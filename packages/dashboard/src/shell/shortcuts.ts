/** What a key does, after `g` or alone. */
export type Shortcut = 'search' | 'orders' | 'payments' | 'home' | 'webhooks';

const AFTER_G: Readonly<Record<string, Shortcut>> = { o: 'orders', p: 'payments', h: 'home', w: 'webhooks' };
const SEQUENCE_MS = 1_500;

interface Key {
  readonly key: string;
  /** Whether the key goes into a text field. */
  readonly isTyping: boolean;
  readonly hasModifier: boolean;
  readonly atMs: number;
}

/** Reads keys one after another, and returns what each asks for. */
export const createShortcuts = (): ((key: Key) => Shortcut | undefined) => {
  let lastG = -Infinity;
  return ({ key, isTyping, hasModifier, atMs }) => {
    if (isTyping || hasModifier) return undefined;
    const isAfterG = atMs - lastG < SEQUENCE_MS;
    lastG = key === 'g' ? atMs : -Infinity;
    if (key === '/') return 'search';
    return isAfterG && Object.hasOwn(AFTER_G, key) ? AFTER_G[key] : undefined;
  };
};
