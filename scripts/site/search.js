/** Search over the index that the build wrote: every word must occur; titles count most. Runs from a file too. */
const root = document.currentScript.dataset.root
const input = document.querySelector('#search')
const list = document.querySelector('#results')
const most = 12

function score([, page, title, text], words) {
  let sum = 0
  for (const word of words) {
    const inText = text.toLowerCase().split(word).length - 1
    const inTitle = title.toLowerCase().includes(word) ? 10 : 0
    const inPage = page.toLowerCase().includes(word) ? 5 : 0
    if (inText + inTitle + inPage === 0) return 0
    sum += Math.min(inText, 5) + inTitle + inPage
  }
  return sum
}

function excerpt(text, word) {
  const at = Math.max(0, text.toLowerCase().indexOf(word) - 40)
  const part = text.slice(at, at + 160)
  const whole = part.slice(at > 0 ? part.indexOf(' ') + 1 : 0, part.length < 160 ? undefined : part.lastIndexOf(' '))
  return (at > 0 ? '… ' : '') + whole + (part.length < 160 ? '' : ' …')
}

function show() {
  const words = input.value.toLowerCase().split(/\s+/).filter(Boolean)
  const found = globalThis.searchIndex
    .map((entry) => ({ entry, points: words.length === 0 ? 0 : score(entry, words) }))
    .filter(({ points }) => points > 0)
    .sort((a, b) => b.points - a.points)
    .slice(0, most)
  list.replaceChildren(
    ...found.map(({ entry: [address, page, title, text] }) => {
      const item = document.createElement('li')
      const link = document.createElement('a')
      link.href = `${root}/${address}`
      const name = document.createElement('b')
      name.textContent = title === page ? page : `${page} › ${title}`
      const about = document.createElement('span')
      about.textContent = excerpt(text, words[0])
      link.append(name, about)
      item.append(link)
      return item
    }),
  )
  if (words.length > 0 && found.length === 0) {
    const item = document.createElement('li')
    item.textContent = 'Nothing found.'
    list.append(item)
  }
  list.hidden = words.length === 0
}

input.addEventListener('input', show)
addEventListener('keydown', (event) => {
  if (event.key === 'Escape') {
    input.value = ''
    show()
  } else if (event.key === '/' && document.activeElement !== input) {
    event.preventDefault()
    input.focus()
  } else if (event.key === 'ArrowDown' || event.key === 'ArrowUp') {
    const links = [...list.querySelectorAll('a')]
    if (links.length === 0) return
    event.preventDefault()
    const at = links.indexOf(document.activeElement) + (event.key === 'ArrowDown' ? 1 : -1)
    if (at < 0) input.focus()
    else links[Math.min(at, links.length - 1)].focus()
  }
})
