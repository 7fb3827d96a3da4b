# Runs a command in a pseudo-terminal: what it prints goes to stdout, what comes on stdin is typed, and lines on
# descriptor 3 give the terminal another size. Ends as the command ended.
import fcntl, os, pty, select, signal, struct, sys, termios

columns, rows = int(sys.argv[1]), int(sys.argv[2])


def resize(fd, columns, rows):
    fcntl.ioctl(fd, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))


pid, terminal = pty.fork()
if pid == 0:
    # The size must be there before the command looks at it.
    resize(0, columns, rows)
    os.execvp(sys.argv[3], sys.argv[3:])

reading = [terminal, 0, 3]
orders = b""
while True:
    ready, _, _ = select.select(reading, [], [])
    if terminal in ready:
        try:
            printed = os.read(terminal, 65536)
        except OSError:
            printed = b""
        if printed == b"":
            break
        os.write(1, printed)
    if 0 in ready:
        typed = os.read(0, 4096)
        if typed == b"":
            reading.remove(0)
        else:
            os.write(terminal, typed)
    if 3 in ready:
        read = os.read(3, 4096)
        if read == b"":
            reading.remove(3)
        orders += read
        while b"\n" in orders:
            order, orders = orders.split(b"\n", 1)
            columns, rows = map(int, order.split())
            resize(terminal, columns, rows)
            os.kill(pid, signal.SIGWINCH)

_, status = os.waitpid(pid, 0)
sys.exit(os.WEXITSTATUS(status) if os.WIFEXITED(status) else 128 + os.WTERMSIG(status))
