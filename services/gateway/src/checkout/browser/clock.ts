import { dateTimeFormat } from '../view/date-time.ts';

/** Shows the time left in every `time.countdown`, by the clock of the server. */
export interface Clock {
  readonly set: (serverMs: number) => void;
  readonly render: () => void;
  /** Calls back when a deadline that is shown has passed. */
  readonly onDeadline: (callback: () => void) => void;
}

const SECOND = 1_000;
const DAY = 86_400 * SECOND;

export const startClock = (): Clock => {
  let offsetMs = 0;
  let timer: ReturnType<typeof setTimeout> | undefined;
  let passed = '';
  let onPassed = () => {};

  const render = (): void => {
    clearTimeout(timer);
    const nowMs = Date.now() + offsetMs;
    for (const element of document.querySelectorAll<HTMLTimeElement>('time.countdown')) {
      const leftMs = Date.parse(element.dateTime) - nowMs;
      if (Number.isNaN(leftMs)) continue;
      const left = timeLeft(Math.max(0, leftMs), document.documentElement.lang);
      const text = (element.dataset.text ?? '{time}').replace('{time}', left);
      if (element.textContent !== text) element.textContent = text;
      element.hidden = false;
      if (leftMs > 0 || passed === element.dateTime) continue;
      passed = element.dateTime;
      onPassed();
    }
    timer = setTimeout(render, SECOND - (nowMs % SECOND));
  };
  const set = (serverMs: number): void => {
    offsetMs = serverMs - Date.now();
    render();
  };
  // A phone that slept, or a page from the history, shows the right time at once.
  document.addEventListener('visibilitychange', render);
  addEventListener('pageshow', render);
  const atLoad = Number(document.querySelector('main')?.dataset.now);
  if (atLoad) set(atLoad);
  else render();
  return { set, render, onDeadline: (callback) => void (onPassed = callback) };
};

/** Such as `9:05`, `1:00:00`, or `2 days 1:00:00`. */
export const timeLeft = (ms: number, language: string): string => {
  const seconds = Math.ceil(ms / SECOND);
  const days = Math.floor((seconds * SECOND) / DAY);
  const [hours, minutes] = [Math.floor(seconds / 3_600) % 24, Math.floor(seconds / 60) % 60];
  const two = (number: number) => String(number).padStart(2, '0');
  const clock = `${two(minutes)}:${two(seconds % 60)}`;
  if (days > 0) {
    const dayCount = new Intl.NumberFormat(language || 'en', { style: 'unit', unit: 'day', unitDisplay: 'long' });
    return `${dayCount.format(days)} ${hours}:${clock}`;
  }
  return hours > 0 ? `${hours}:${clock}` : clock.replace(/^0/, '');
};

/** Shows each time of the page in the time zone of the payer. */
export const showLocalTimes = (): { readonly render: () => void } => {
  const render = (): void => {
    const format = dateTimeFormat(document.querySelector('main')?.dataset.locale ?? 'en');
    for (const time of document.querySelectorAll<HTMLTimeElement>('time:not(.countdown)'))
      time.textContent = format(new Date(time.dateTime));
  };
  render();
  return { render };
};
