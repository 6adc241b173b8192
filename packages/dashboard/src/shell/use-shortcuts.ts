import { useNavigate } from '@tanstack/react-router';
import { useEffect } from 'react';
import { createShortcuts, type Shortcut } from './shortcuts.ts';

const PAGES: Readonly<Record<Exclude<Shortcut, 'search'>, string>> = {
  orders: '/orders',
  payments: '/payments',
  home: '/',
  webhooks: '/webhooks',
};

/** The field that `/` focuses; without one on the page, it opens the orders. */
const searchField = () => document.querySelector<HTMLInputElement>('input[type="search"]');

export const useShortcuts = (): void => {
  const navigate = useNavigate();
  useEffect(() => {
    const read = createShortcuts();
    const onKey = (event: KeyboardEvent) => {
      const target = event.target instanceof Element ? event.target : null;
      const isTyping = target?.closest('input, textarea, select, [contenteditable], [role="dialog"]') != null;
      const hasModifier = event.ctrlKey || event.metaKey || event.altKey;
      const shortcut = read({ key: event.key, isTyping, hasModifier, atMs: event.timeStamp });
      if (shortcut === undefined) return;
      event.preventDefault();
      if (shortcut !== 'search') void navigate({ to: PAGES[shortcut] });
      else if (searchField()) searchField()?.focus();
      else void navigate({ to: '/orders', search: { focus: 'search' } });
    };
    document.addEventListener('keydown', onKey);
    return () => document.removeEventListener('keydown', onKey);
  }, [navigate]);
};
