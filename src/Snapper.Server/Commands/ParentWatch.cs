using Snapper.AspNetCore.Processes;

namespace Snapper.Server.Commands;

/// <summary>Notices that the supervisor is gone, where the kernel cannot be asked to tell (no <c>setpriv</c>): one system call a second.</summary>
internal sealed class ParentWatch : IDisposable
{
    private readonly Timer _timer;

    /// <summary>Calls <paramref name="orphaned"/> once this process has another parent than <paramref name="parent"/>.</summary>
    public ParentWatch(int parent, Action orphaned)
    {
        _timer = new Timer(_ =>
        {
            if (Posix.ParentProcessId() != parent) orphaned();
        }, null, TimeSpan.FromSeconds(1), TimeSpan.FromSeconds(1));
    }

    public void Dispose() => _timer.Dispose();
}
