import { dateTimeFormat } from '../view/date-time.ts';

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
