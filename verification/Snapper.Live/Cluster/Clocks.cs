using System.Buffers.Binary;
using System.Diagnostics;
using Snapper.Live.Running;

namespace Snapper.Live.Cluster;

/// <summary>
/// Clocks of single processes. A small library, compiled here, is loaded into a process at its start and changes what it is told of the time of day, not the time by which it waits.
/// A script stands in for <c>setsid</c>, by which <c>up</c> starts everything. (libfaketime makes .NET's timers spin, and Redis' allocator does not start with it.)
/// </summary>
internal sealed class Clocks
{
    private const string Program = "/usr/bin/setsid";
    private const string Variable = "SNAPPER_LIVE_CLOCK";

    // The true time comes from the kernel itself: nothing is looked up, so that nothing here calls an allocator that asks for the time.
    private const string Source = $$"""
        #include <fcntl.h>
        #include <stdlib.h>
        #include <sys/mman.h>
        #include <sys/syscall.h>
        #include <sys/time.h>
        #include <time.h>
        #include <unistd.h>

        static volatile long long *ahead_ms;

        __attribute__((constructor)) static void begin(void)
        {
            const char *file = getenv("{{Variable}}");
            int opened = file ? open(file, O_RDONLY | O_CLOEXEC) : -1;
            void *at = opened < 0 ? MAP_FAILED : mmap(0, 8, PROT_READ, MAP_SHARED, opened, 0);
            if (at != MAP_FAILED) ahead_ms = at;
            if (opened >= 0) close(opened);
        }

        int clock_gettime(clockid_t clock, struct timespec *now)
        {
            int result = syscall(SYS_clock_gettime, clock, now);
            if (result == 0 && ahead_ms && (clock == CLOCK_REALTIME || clock == CLOCK_REALTIME_COARSE)) {
                long long ns = now->tv_nsec + *ahead_ms % 1000 * 1000000LL + 1000000000LL;
                now->tv_sec += *ahead_ms / 1000 + ns / 1000000000LL - 1;
                now->tv_nsec = ns % 1000000000LL;
            }
            return result;
        }

        int gettimeofday(struct timeval *restrict now, void *restrict zone)
        {
            struct timespec exact;
            (void)zone;
            clock_gettime(CLOCK_REALTIME, &exact);
            now->tv_sec = exact.tv_sec;
            now->tv_usec = exact.tv_nsec / 1000;
            return 0;
        }

        time_t time(time_t *now)
        {
            struct timespec exact;
            clock_gettime(CLOCK_REALTIME, &exact);
            if (now) *now = exact.tv_sec;
            return exact.tv_sec;
        }

        """;

    private readonly StandFolder _folder;

    /// <param name="folder">Where the script and the library are.</param>
    /// <param name="then">
    /// Shell that comes last in the script; <c>$name</c> is the worker's, or <c>redis</c>, or empty.
    /// </param>
    public Clocks(StandFolder folder, string then)
    {
        _folder = folder;
        Setsid = folder.Write(
            "setsid",
            "--name) name=$word;;",
            first: "name=",
            then: $"""
            case " $* " in *"/redis-server "*) name=redis;; *" worker --name "*) ;; *) name=;; esac
            if [ -n "$name" ] && [ -e '{folder.PathOf("clock-")}'"$name" ]; then export LD_PRELOAD='{Library}' {Variable}='{folder.PathOf("clock-")}'"$name"; fi
            {then}
            """,
            program: Program);
    }

    /// <summary>The script to name by SNAPPER_SETSID.</summary>
    public string Setsid { get; }

    private string Library => _folder.PathOf("clock.so");

    /// <summary>Makes what is needed.</summary>
    /// <returns>Why it cannot be; null: clocks can be set.</returns>
    public async Task<string?> Prepare()
    {
        if (File.Exists(Library))
        {
            return null;
        }

        var source = _folder.PathOf("clock.c");
        await File.WriteAllTextAsync(source, Source);
        try
        {
            using var compiler = Process.Start(new ProcessStartInfo("cc", ["-shared", "-fPIC", "-O1", "-o", Library, source]))!;
            await compiler.WaitForExitAsync();
            return compiler.ExitCode == 0 ? null : $"the C compiler ended with {compiler.ExitCode} (Debian: gcc, libc6-dev)";
        }
        catch (System.ComponentModel.Win32Exception missing)
        {
            return $"there is no C compiler (Debian: gcc, libc6-dev): {missing.Message}";
        }
    }

    /// <summary>A life of this process that begins from now on, or one that has such a clock already, is so much ahead from now on; null: lives that begin have the machine's clock.</summary>
    public void Set(string process, TimeSpan? ahead)
    {
        var file = _folder.PathOf($"clock-{process}");
        if (ahead is { } by)
        {
            // In place: processes that run have it in their memory.
            using var clock = new FileStream(file, FileMode.OpenOrCreate, FileAccess.Write, FileShare.ReadWrite);
            var bytes = new byte[sizeof(long)];
            BinaryPrimitives.WriteInt64LittleEndian(bytes, (long)by.TotalMilliseconds);
            clock.Write(bytes);
        }
        else
        {
            File.Delete(file);
        }
    }
}
