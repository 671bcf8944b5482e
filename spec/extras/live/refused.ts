// The headers of requests that get nothing of what is for this machine alone.

const navigation = (site: string, dest: string) => {
  return { 'Sec-Fetch-Site': site, 'Sec-Fetch-Dest': dest, 'Sec-Fetch-Mode': 'navigate' }
}

export const REFUSED: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  'a foreign Host (DNS rebinding)': { Host: 'evil.example' },
  'a Host that begins as a loopback name': { Host: 'localhost.evil.example' },
  'a Host that ends as one without its dot': { Host: 'evillocalhost' },
  'an address of the network': { Host: '192.168.1.4:3000' },
  'no Host': { Host: '' },
  'no Host that can be read': { Host: 'localhost:x' },
  'X-Forwarded-For': { 'X-Forwarded-For': '127.0.0.1' },
  Forwarded: { Forwarded: 'for=127.0.0.1' },
  'CF-Connecting-IP': { 'CF-Connecting-IP': '203.0.113.9' },
  'a foreign Origin': { Origin: 'http://evil.example' },
  'an opaque Origin': { Origin: 'null' },
  'a script of another site': { 'Sec-Fetch-Site': 'cross-site', 'Sec-Fetch-Mode': 'no-cors' },
  'a link on another site': navigation('cross-site', 'document'),
  'a link on another port': navigation('same-site', 'document'),
  'a frame on another site': navigation('cross-site', 'iframe')
}
