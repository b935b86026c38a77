using Snapper.Storage.Log.Writing;
using Snapper.Storage.Log;

namespace Snapper.Storage.Tests.Support;

/// <summary>Remembers what it hears.</summary>
internal sealed class Observer : ILogObserver
{
    private readonly List<string> _heard = [];

    public Action<long>? OnFlushed { get; set; }

    public long LastFlushed { get; private set; }

    public AppendStatus? LostStatus { get; private set; }

    public string LostDetail { get; private set; } = "";

    public string UnavailableDetail { get; private set; } = "";

    public IReadOnlyList<string> Heard
    {
        get
        {
            lock (_heard)
            {
                return [.. _heard];
            }
        }
    }

    public void Flushed(long ticket)
    {
        lock (_heard)
        {
            _heard.Add($"flushed {ticket}");
            LastFlushed = ticket;
        }

        OnFlushed?.Invoke(ticket);
    }

    public void Unavailable(string detail)
    {
        lock (_heard)
        {
            _heard.Add("unavailable");
            UnavailableDetail = detail;
        }
    }

    public void Available()
    {
        lock (_heard)
        {
            _heard.Add("available");
        }
    }

    public void Lost(AppendStatus status, string detail)
    {
        lock (_heard)
        {
            _heard.Add($"lost {status}");
            LostStatus = status;
            LostDetail = detail;
        }
    }
}
