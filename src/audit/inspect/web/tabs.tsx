/** The ways between the pages of a fleet. */
export const Tabs = ({ here }: { here: '/' | '/fleet' }) => (
  <nav class="tabs" aria-label="Views">
    {(
      [
        ['/', 'Overview'],
        ['/fleet', 'Fleet'],
      ] as const
    ).map(([to, name]) => (
      <a key={to} href={to} aria-current={to === here ? 'page' : undefined}>
        {name}
      </a>
    ))}
  </nav>
)
