/** The value that this browser stores under a name, for all tabs; null for none, as in a browser without storage. */
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
