/** What this browser keeps under a name, for all tabs; null for nothing. A browser without storage keeps nothing. */
export const stored = (name: string): string | null => {
  try {
    return localStorage.getItem(name);
  } catch {
    return null;
  }
};

/** Keeps a value under a name; null forgets it. */
export const store = (name: string, value: string | null): void => {
  try {
    if (value === null) localStorage.removeItem(name);
    else localStorage.setItem(name, value);
  } catch {
    return;
  }
};
