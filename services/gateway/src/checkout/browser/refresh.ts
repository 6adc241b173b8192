import { Idiomorph } from 'idiomorph';

export interface Refresh {
  /** Shows the page as the server renders it from now on; rejects if it cannot. */
  readonly now: () => Promise<void>;
  /** The version that is shown. */
  readonly version: () => string | undefined;
}

/** Attributes that the payer and this script set, not the server. */
const OWN_ATTRIBUTES = new Set(['open', 'checked', 'hidden', 'data-done', 'data-sent']);
/** The status of the page for a payment that does not exist. */
const NOT_FOUND = 404;
const TIMEOUT_MS = 15_000;

export const createRefresh = ({ onReplaced }: { onReplaced: (main: HTMLElement) => void }): Refresh => {
  let running: Promise<void> | undefined;
  let isAsked = false;

  const replace = async (): Promise<void> => {
    isAsked = false;
    const response = await fetch(location.href, {
      headers: { accept: 'text/html' },
      cache: 'no-store',
      signal: AbortSignal.timeout(TIMEOUT_MS),
    });
    if (!response.ok && response.status !== NOT_FOUND) throw new Error(`the server answered ${response.status}`);
    const rendered = new DOMParser().parseFromString(await response.text(), 'text/html');
    const next = rendered.querySelector('main')!;
    const main = document.querySelector('main')!;
    if (next.dataset.version === main.dataset.version) return;
    morph(main, next);
    document.title = rendered.title;
    onReplaced(main);
  };
  const run = async (): Promise<void> => {
    try {
      do await replace();
      while (isAsked);
    } finally {
      running = undefined;
    }
  };
  return {
    now: () => {
      isAsked = true;
      return (running ??= run());
    },
    version: () => document.querySelector('main')?.dataset.version,
  };
};

/** Changes only what differs, so focus, selection and scroll positions stay. */
const morph = (main: Element, next: Element): void => {
  void Idiomorph.morph(main, next, {
    restoreFocus: true,
    callbacks: {
      beforeNodeMorphed: (node) => !isClients(node),
      beforeNodeRemoved: (node) => !isClients(node),
      beforeAttributeUpdated: (name) => !OWN_ATTRIBUTES.has(name),
    },
  });
};

/** Whether this script has added the node. */
const isClients = (node: Node): boolean => node instanceof Element && node.hasAttribute('data-client');

/** Tells users of screen readers what has changed. */
export const announce = (text: string): void => {
  const region = document.getElementById('announcement');
  if (region && text) region.textContent = text;
};
