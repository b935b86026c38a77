using Microsoft.AspNetCore.Components;
using Snapper.Dashboard.Store;

namespace Snapper.Dashboard.Parts;

/// <summary>A page that draws itself again when something new was heard, from what <see cref="Look"/> has taken down; a paused page keeps that.</summary>
public abstract class LivePage : ComponentBase, IDisposable
{
    private readonly Dictionary<string, (string Path, IDisposable Watch)> _watches = [];

    [Inject]
    public required Fleet Fleet { get; set; }

    [Inject]
    public required Feeds Feeds { get; set; }

    [Inject]
    public required Pulse Pulse { get; set; }

    [Inject]
    public required NavigationManager Navigation { get; set; }

    /// <summary>The workers as this page shows them.</summary>
    protected IReadOnlyList<WorkerState> Workers { get; private set; } = [];

    /// <summary>Takes down what is shown. Called before each drawing of something new.</summary>
    protected virtual void Look()
    {
    }

    /// <summary>Watches a path while the page is open; another path in the same slot takes its place.</summary>
    protected Watch<T> Use<T>(string slot, string path) where T : class
    {
        if (_watches.TryGetValue(slot, out var known))
        {
            if (known.Path == path) return (Watch<T>)known.Watch;
            known.Watch.Dispose();
        }

        var watch = Feeds.Watch<T>(path);
        _watches[slot] = (path, watch);
        return watch;
    }

    /// <summary>Watches nothing in a slot any more.</summary>
    protected void Drop(string slot)
    {
        if (_watches.Remove(slot, out var known)) known.Watch.Dispose();
    }

    /// <summary>Goes to this page with other query parameters; null takes one away.</summary>
    protected void With(params (string Name, object? Value)[] parameters) =>
        Navigation.NavigateTo(Navigation.GetUriWithQueryParameters(parameters.ToDictionary(one => one.Name, one => one.Value is string { Length: 0 } ? null : one.Value)), replace: true);

    protected override void OnInitialized() => Pulse.Beat += OnBeat;

    protected override void OnParametersSet() => LookAgain();

    public void Dispose()
    {
        Pulse.Beat -= OnBeat;
        foreach (var (_, watch) in _watches.Values) watch.Dispose();
        GC.SuppressFinalize(this);
    }

    private void LookAgain()
    {
        Workers = Fleet.Workers;
        Look();
    }

    private void OnBeat() => _ = InvokeAsync(() =>
    {
        try
        {
            if (!Pulse.Paused) LookAgain();
            StateHasChanged();
        }
        catch (Exception problem) when (problem is not ObjectDisposedException)
        {
            return DispatchExceptionAsync(problem);
        }

        return Task.CompletedTask;
    });
}
