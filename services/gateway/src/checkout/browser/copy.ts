const SHOWN_MS = 2_000;

export interface CopyButtons {
  /** Shows the buttons that the page has now. */
  readonly render: () => void;
}

/** Makes every `data-copy` button copy its text. */
export const copyOnClick = ({ onCopied }: { onCopied: (text: string) => void }): CopyButtons => {
  document.addEventListener('click', (event) => {
    const button = event.target instanceof Element ? event.target.closest<HTMLElement>('[data-copy]') : null;
    if (button) void copyFrom(button, onCopied);
  });
  const render = (): void => {
    for (const button of document.querySelectorAll<HTMLElement>('[data-copy]')) button.hidden = false;
  };
  render();
  return { render };
};

const copyFrom = async (button: HTMLElement, onCopied: (text: string) => void): Promise<void> => {
  if (!(await copy(button.dataset.copy!))) return;
  const { copied = '' } = button.dataset;
  onCopied(copied);
  if (button.dataset.done !== undefined) return;
  const label = button.textContent;
  button.dataset.done = '';
  button.textContent = copied;
  setTimeout(() => {
    delete button.dataset.done;
    button.textContent = label;
  }, SHOWN_MS);
};

/** Copies by the clipboard, else by a selected field. */
const copy = async (text: string): Promise<boolean> => {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    return copyFromField(text);
  }
};

const copyFromField = (text: string): boolean => {
  const focused = document.activeElement;
  const field = document.createElement('textarea');
  field.value = text;
  field.readOnly = true;
  Object.assign(field.style, { position: 'fixed', opacity: '0' });
  document.body.append(field);
  field.focus({ preventScroll: true });
  field.select();
  try {
    return document.execCommand('copy');
  } finally {
    field.remove();
    if (focused instanceof HTMLElement) focused.focus({ preventScroll: true });
  }
};
